/** `deno task chaos` kills, stops and cuts off several nodes on one PostgreSQL server while clients talk to them. It
 * writes docs/generated/chaos.json and the page chaos.md next to it. It exits with 1 if a row was lost, repeated, out
 * of order or left behind.
 *
 *     deno task chaos                                     3 nodes, 200 conversations of 10 requests, from source
 *     deno task chaos --compiled                          the executable
 *     deno task chaos --seed 1 --seed 2                   one run after the other
 *     deno task chaos --conversations 20 --seed 17        a shorter run, which writes nothing */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeCommit, describeMachine } from "../../../bench/support/machine.ts";
import { ROOT } from "../../../scripts/_project.ts";
import { compiledLauncher, sourceLauncher } from "../../e2e/_launcher.ts";
import { noPostgres, startPostgres } from "../../helpers/postgres.ts";
import { chaos, type ChaosReport } from "./chaos.ts";
import { chaosPage, type ChaosResult } from "./chaos_page.ts";

const GENERATED = join(ROOT, "docs/generated");
const WHOLE = "200";

const { values } = parseArgs({
  options: {
    compiled: { type: "boolean", default: false },
    nodes: { type: "string", default: "3" },
    conversations: { type: "string", default: WHOLE },
    requests: { type: "string", default: "10" },
    "at-once": { type: "string", default: "8" },
    seed: { type: "string", multiple: true, default: ["1"] },
  },
});
if (noPostgres !== "") throw new Error(`Cannot start: ${noPostgres}`);
const launcher = values.compiled ? await compiledLauncher() : await sourceLauncher();
const postgres = await startPostgres({ settings: ["max_connections = 200", "synchronous_commit = on"] });
const [commit, { cores, memoryGb, load }] = [await describeCommit(), await describeMachine({ all: [], missing: "" })];

const runs: ChaosReport[] = [];
for (const seed of values.seed) {
  const report = await chaos({
    ...{ launcher, postgres },
    nodes: Number(values.nodes),
    conversations: Number(values.conversations),
    requests: Number(values.requests),
    atOnce: Number(values["at-once"]),
    seed: Number(seed),
    told: (line) => console.error(`chaos: ${line}`),
  });
  runs.push(report);
  const { invariants, faults, counts, seconds } = report;
  console.table({ seed, seconds, ...faults, ...counts });
  console.table(invariants.map(({ what, checked, violations }) => ({ what, checked, violations: violations.length })));
  for (const { what, violations } of invariants) for (const one of violations) console.log(`!! ${what}: ${one}`);
}
if (values.conversations === WHOLE) {
  const way = values.compiled ? "the executable" : "from source";
  const before = await Deno.readTextFile(join(GENERATED, "chaos.json")).then<ChaosResult, null>(JSON.parse, () => null);
  // The results of the same program with other seeds stay.
  const others = before?.commit === commit && before.way === way ? before.runs : [];
  const all = [...others.filter(({ size }) => !values.seed.includes(String(size.seed))), ...runs];
  const result: ChaosResult = { commit, way, machine: { cores, memoryGb, load }, runs: all };
  await Deno.writeTextFile(join(GENERATED, "chaos.json"), `${JSON.stringify(result, null, 2)}\n`);
  await Deno.writeTextFile(join(GENERATED, "chaos.md"), chaosPage(result));
}
const failed = runs.some(({ invariants }) => invariants.some(({ violations }) => violations.length > 0));
console.log(failed ? "Something did not hold, see above" : "Nothing was lost, repeated or left behind");
Deno.exit(failed ? 1 : 0);
