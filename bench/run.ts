/** `deno task bench [name…]` prints a table for each benchmark, and stores `bench/results/<name>.json`. Other work on
 * the machine changes the figures, which docs/internals/benchmarks.md explains. */
import { join } from "node:path";
import { ROOT } from "../scripts/_project.ts";
import { evaluate } from "./eval/evaluate.ts";
import { extensions } from "./extensions.ts";
import { files } from "./files.ts";
import { http } from "./http.ts";
import { launch } from "./launch.ts";
import { memory } from "./memory.ts";
import { nodes } from "./nodes.ts";
import { page } from "./page.ts";
import { peers } from "./peers/peers.ts";
import { recursion } from "./recursion/recursion.ts";
import { requestSize } from "./request_size.ts";
import { rest } from "./rest.ts";
import { round } from "./round.ts";
import { sandbox } from "./sandbox.ts";
import { sandboxCompute } from "./sandbox_compute.ts";
import { sandboxContainer } from "./sandbox_container.ts";
import { screen } from "./screen.ts";
import { soak } from "./soak.ts";
import { stalls } from "./stalls.ts";
import { store } from "./store.ts";
import { storeLarge } from "./store_large.ts";
import { storePostgres } from "./store_postgres.ts";
import { type Figure, isMet, spreadOf } from "./support/figure.ts";
import { describeCommit, describeMachine } from "./support/machine.ts";
import { findPrograms, type Programs } from "./support/programs.ts";
import { tableOf } from "./support/table.ts";

const BENCHMARKS: Readonly<Record<string, (programs: Programs) => Promise<readonly Figure[]>>> = {
  request_size: requestSize,
  launch,
  round,
  screen,
  page,
  memory,
  sandbox,
  sandbox_compute: sandboxCompute,
  sandbox_container: sandboxContainer,
  store,
  extensions,
  files,
  store_large: storeLarge,
  store_postgres: storePostgres,
  http,
  nodes,
  rest,
  stalls,
  soak,
  recursion,
};
const EVALUATION = "eval";
const RESULTS = join(ROOT, "bench/results");

async function main(names: readonly string[]): Promise<number> {
  if (names[0] === EVALUATION) return await evaluate(names.slice(1));
  if (names[0] === "--peers") return await peers(names.slice(1));
  const unknown = names.filter((name) => !Object.hasOwn(BENCHMARKS, name));
  if (unknown.length > 0) {
    console.error(
      `Cannot run benchmark ${unknown.join(", ")}: it is unknown; choose one of ` +
        `${[...Object.keys(BENCHMARKS), EVALUATION].join(", ")}`,
    );
    return 2;
  }
  const programs = await findPrograms();
  if (programs.missing !== "") console.log(`Only from source: ${programs.missing}\n`);
  const machine = await describeMachine(programs);
  const commit = await describeCommit();
  console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.system}, commit ${commit}`);
  await Deno.mkdir(RESULTS, { recursive: true });
  let failed = 0;
  for (const [name, measure] of Object.entries(BENCHMARKS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    try {
      const figures = await measure(programs);
      console.log(`\n== ${name} (load ${(Deno.loadavg()[0] ?? 0).toFixed(1)})\n${tableOf(figures)}`);
      const stored = figures.map((figure) => ({ ...figure, ...spreadOf(figure.samples), met: isMet(figure) }));
      await Deno.writeTextFile(join(RESULTS, `${name}.json`), json({ name, commit, machine, figures: stored }));
    } catch (error) {
      failed++;
      console.error(`\n== ${name}\n${error instanceof Error ? error.message : error}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, (_, item) => typeof item === "number" ? Number(item.toPrecision(5)) : item, 2)}\n`;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
