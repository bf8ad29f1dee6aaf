/** `deno task conformance` runs programs in the sandbox and in plain Deno. The script prints each difference that no
 * decision explains (docs/internals/conformance.md). The exit code is 1 after such a difference.
 *
 *     deno task conformance                             the corpus of tests/conformance/corpus
 *     deno task conformance --package                   the packages of scripts/conformance_package.ts
 *     deno task conformance --package test262-parser-tests@0.0.5
 *     deno task conformance --folder ../test262 --only built-ins/Map --limit 500 --json dist/conformance.json */
import { CONFORMANCE_PACKAGES, fetchPackage } from "./conformance_package.ts";
import { readCorpus } from "../tests/conformance/corpus/read_corpus.ts";
import { differencesOf } from "../tests/conformance/programs/compare.ts";
import { explanationOf } from "../tests/conformance/programs/explained.ts";
import { isKnown, type Program } from "../tests/conformance/programs/program.ts";
import { readFolder } from "../tests/conformance/programs/read_folder.ts";
import { differenceText, type Suite, suiteTable } from "../tests/conformance/programs/suite_table.ts";

interface Arguments {
  readonly folders: readonly string[];
  readonly packages: readonly string[];
  readonly only: string;
  readonly limit: number;
  readonly json: string | null;
  readonly deadlineMs: number;
}

const BATCH = 100;
const VALUES = ["--folder", "--package", "--only", "--limit", "--json", "--deadline"];

function readArguments(args: readonly string[]): Arguments {
  const found = new Map<string, string[]>();
  for (let at = 0; at < args.length; at++) {
    const name = args[at] ?? "", value = args[at + 1];
    const isAlone = name === "--package" && (value === undefined || value.startsWith("--"));
    if (!VALUES.includes(name) || (value === undefined && !isAlone)) {
      throw new Error(`Cannot use ${name}: it is not an option; choose one of ${VALUES.join(", ")}, each with a value`);
    }
    found.set(name, [...found.get(name) ?? [], ...isAlone ? CONFORMANCE_PACKAGES : [value ?? ""]]);
    if (!isAlone) at++;
  }
  const number = (name: string, otherwise: number): number => {
    const value = found.get(name)?.at(-1) ?? String(otherwise);
    if (/^\d{1,9}$/.test(value)) return Number(value);
    throw new Error(`Cannot use ${name} ${value}: it is not a whole number`);
  };
  return {
    folders: found.get("--folder") ?? [],
    packages: found.get("--package") ?? [],
    only: found.get("--only")?.at(-1) ?? "",
    limit: number("--limit", 999_999_999),
    json: found.get("--json")?.at(-1) ?? null,
    deadlineMs: number("--deadline", 10_000),
  };
}

async function runSuite(name: string, programs: readonly Program[], { deadlineMs }: Arguments): Promise<Suite> {
  const begun = performance.now();
  const differences = await differencesOf(programs, {
    batch: BATCH,
    deadlineMs,
    isExpected: (one) => explanationOf(one) !== null || isKnown(one),
    onBatch: (done, found) => {
      for (const one of found) if (!explanationOf(one)) console.log(`${differenceText(one)}\n`);
      console.error(`${name}: ${done} of ${programs.length}`);
    },
  });
  return { name, programs: programs.length, skipped: {}, differences, seconds: (performance.now() - begun) / 1000 };
}

async function runAll(given: Arguments): Promise<readonly Suite[]> {
  const folders = new Map(given.folders.map((folder) => [folder, folder]));
  for (const one of given.packages) folders.set(one, await fetchPackage(one));
  if (folders.size === 0) {
    const wanted = readCorpus().filter(({ name }) => name.includes(given.only)).slice(0, given.limit);
    return [await runSuite("corpus", wanted, given)];
  }
  const suites: Suite[] = [];
  for (const [name, folder] of folders) {
    const { programs, skipped } = await readFolder(folder, given);
    suites.push({ ...await runSuite(name, programs, given), skipped });
  }
  return suites;
}

async function main(): Promise<number> {
  const given = readArguments(Deno.args);
  const suites = await runAll(given);
  const isDifferent = suites.some(({ differences }) => differences.some((one) => !explanationOf(one)));
  console.log(suiteTable(suites));
  if (given.json !== null) {
    const text = JSON.stringify(suites, (key, value) => key === "fits" ? undefined : value, 2);
    await Deno.writeTextFile(given.json, `${text}\n`);
  }
  if (suites.every(({ programs }) => programs === 0)) throw new Error("Cannot compare programs: there are none");
  return isDifferent ? 1 : 0;
}

try {
  Deno.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exitCode = 2;
}
