/** `deno task faults` tries to break the guarantees of the program. The exit code is 1 if a try breaks one.
 *
 *     deno task faults                              all families in full, from source
 *     deno task faults --compiled                   the executable
 *     deno task faults --family pages               one family in full, and its row of the page
 *     deno task faults --quick                      a few tries of each
 *     deno task faults --family schedules --seed 17 --tries 1 */
import { join } from "node:path";
import { compiledLauncher, sourceLauncher } from "../tests/e2e/_launcher.ts";
import { FAMILIES } from "../tests/faults/families/families.ts";
import { faultsPage } from "../tests/faults/families/faults_page.ts";
import { type Row, runFamily } from "../tests/faults/families/run_family.ts";
import { tableOf } from "../tests/faults/families/table_of.ts";
import type { Trial } from "../tests/faults/world/trial.ts";
import { ROOT } from "./_project.ts";

const PAGE = "docs/generated/faults.md";

interface Arguments {
  readonly compiled: boolean;
  readonly quick: boolean;
  readonly verbose: boolean;
  readonly families: readonly string[];
  readonly tries: number | null;
  readonly seed: number;
  readonly atOnce: number;
}

function read(args: readonly string[]): Arguments {
  const flags = ["--compiled", "--quick", "--verbose"];
  const values = ["--family", "--tries", "--seed", "--at-once"];
  const found = new Map<string, string[]>();
  for (let at = 0; at < args.length; at++) {
    const name = args[at] ?? "";
    if (flags.includes(name)) found.set(name, []);
    else if (values.includes(name) && args[at + 1]) found.set(name, [...found.get(name) ?? [], args[++at] ?? ""]);
    else throw new Error(`Cannot use ${name}: it is not an option; choose one of ${[...flags, ...values].join(", ")}`);
  }
  const number = (name: string): number | null => {
    const value = found.get(name)?.at(-1);
    if (value === undefined || /^\d{1,9}$/.test(value)) return value === undefined ? null : Number(value);
    throw new Error(`Cannot use ${name} ${value}: it is not a whole number`);
  };
  const families = found.get("--family") ?? [];
  const unknown = families.filter((name) => !FAMILIES.some((family) => family.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `Cannot try ${unknown.join(", ")}: no family has this name; choose one of ` +
        `${FAMILIES.map(({ name }) => name).join(", ")}`,
    );
  }
  return {
    compiled: found.has("--compiled"),
    quick: found.has("--quick"),
    verbose: found.has("--verbose"),
    families,
    tries: number("--tries"),
    seed: number("--seed") ?? 1,
    atOnce: number("--at-once") ?? 2,
  };
}

function tell(family: string, { seed, findings, trail }: Pick<Trial, "seed" | "findings" | "trail">): void {
  console.log(
    `\n${family}, --seed ${seed} --tries 1: ${findings.map(({ word }) => word).join(", ") || "nothing found"}`,
  );
  for (const line of trail) console.log(`  ${line}`);
}

async function tryAll({ compiled, quick, verbose, families, tries, seed, atOnce }: Arguments): Promise<readonly Row[]> {
  const launcher = compiled ? await compiledLauncher() : await sourceLauncher();
  if (launcher.missing) throw new Error(`Cannot run the executable: ${launcher.missing}`);
  await launcher.ready();
  const rows: Row[] = [];
  for (const family of FAMILIES.filter(({ name }) => families.length === 0 || families.includes(name))) {
    const count = tries ?? (quick ? family.tries.quick : family.tries.full);
    let done = 0;
    const row = await runFamily(family, {
      ...{ launcher, tries: count, quick, seed, atOnce },
      onTry: (trial) => {
        console.log(`${family.name}: ${++done} of ${count} tries`);
        if (verbose || trial.findings.length > 0) tell(family.name, trial);
      },
    });
    console.log(`${family.name}: ${row.missing || `${row.tries} tries in ${row.seconds} s`}`);
    rows.push(row);
  }
  return rows;
}

async function main(): Promise<number> {
  const given = read(Deno.args);
  const rows = await tryAll(given);
  console.log(`\n${tableOf(rows)}`);
  const way = given.compiled ? "compiled" : "source";
  await Deno.mkdir(join(ROOT, "dist"), { recursive: true });
  await Deno.writeTextFile(join(ROOT, `dist/faults-${way}.json`), `${JSON.stringify(rows, null, 2)}\n`);
  const inFull = !given.quick && given.tries === null;
  if (inFull) await Deno.writeTextFile(join(ROOT, PAGE), await faultsPage({ way, rows, before: join(ROOT, PAGE) }));
  return rows.some(({ failed }) => failed.length > 0) ? 1 : 0;
}

try {
  Deno.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exitCode = 2;
}
