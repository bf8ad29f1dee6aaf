/** `deno task test [--all] [paths or flags of deno test]` builds the program, runs the tests, and ends with one line of
 * counts. Without `--all` and without paths, the script skips the long part. The exit code is 1 if a test failed, the
 * run broke off or no test ran. */
import { join, relative, resolve } from "node:path";
import { bundleStale } from "./bundle.ts";
import { V8_FLAGS } from "./flags.ts";
import { ROOT } from "./_project.ts";
import { groupModule, groupName, groupTests, isLong, testFiles } from "./testing/test_groups.ts";
import { type Counts, parseSummary, summaryLine } from "./test_summary.ts";

const ALL = "--all";
const TAIL_CHARS = 16_384;
/** One more file than processors runs at once, so that a waiting file leaves no processor idle. */
const JOBS = Number(Deno.env.get("DENO_JOBS") ?? navigator.hardwareConcurrency + 1);

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}

/** A larger heap needs less processor time, so the tests omit the flags that keep the heap small. */
const FLAGS = V8_FLAGS.filter((flag) => !/^--(?:max-semi-space-size|heap-growing-percent)=/.test(flag));

/** A run that broke off, or whose exit code is worse than its counts, has at least one failure. */
async function runTests(args: readonly string[], { all }: { readonly all: boolean }): Promise<Counts> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--no-prompt", "--parallel", `--v8-flags=${FLAGS.join(",")}`, ...args],
    cwd: ROOT,
    env: { DENO_JOBS: String(JOBS), ...all ? { VIS_TESTS_ALL: "1" } : {} },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of child.stdout) {
    await writeAll(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-TAIL_CHARS);
  }
  const { code } = await child.status;
  const counts = parseSummary(tail);
  if (!counts) console.error(`The test run broke off with exit code ${code}`);
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 };
  return { passed, skipped, failed: code === 0 && counts ? failed : Math.max(1, failed) };
}

async function pathOf(arg: string): Promise<string | null> {
  const path = relative(ROOT, resolve(arg));
  return await Deno.stat(join(ROOT, path)).then(() => path, () => null);
}

async function runGroups(args: readonly string[]): Promise<Counts> {
  const places = await Promise.all(args.map(pathOf));
  const paths = places.filter((path) => path !== null);
  const options = args.filter((arg, at) => places[at] === null && arg !== ALL);
  const found = await testFiles(ROOT, paths);
  const files = paths.length > 0 || args.includes(ALL) ? found : found.filter((file) => !isLong(file));
  if (files.length < found.length) {
    console.log(`Without the long part of ${found.length - files.length} files, which ${ALL} includes`);
  }
  if (files.length === 0) throw new Error("Cannot run tests: no test file matches the arguments");
  const folder = await Deno.makeTempDir({ prefix: "vis-tests-" });
  try {
    // `deno test` begins with deeper folders, and then files of one folder in the given order.
    const modules = groupTests(files, JOBS).map(async (group) => {
      const module = join(folder, groupName(group));
      await Deno.writeTextFile(module, groupModule(ROOT, group));
      return module;
    });
    return await runTests([...options, ...await Promise.all(modules)], { all: args.includes(ALL) });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export async function testAll(args: readonly string[]): Promise<Counts> {
  try {
    await bundleStale();
    const counts = await runGroups(args);
    if (counts.passed + counts.failed > 0) return counts;
    throw new Error("Cannot run tests: no test ran");
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

if (import.meta.main) {
  const counts = await testAll(Deno.args);
  console.log(summaryLine(counts));
  Deno.exitCode = counts.failed ? 1 : 0;
}
