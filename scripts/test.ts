/** `deno task test [paths or flags of deno test]`: builds what the tests need, runs them, and ends with one line of
 * counts. Exits with 1 if a test failed, the run broke off or there were no tests. */
import { bundleAll } from "./bundle.ts";
import { V8_FLAGS } from "./flags.ts";
import { ROOT } from "./_project.ts";
import { type Counts, parseSummary, summaryLine } from "./test_summary.ts";

const TAIL_CHARS = 16_384;
/** Files at a time. One more than there are processors: a file that waits leaves none of them idle. */
const JOBS = Deno.env.get("DENO_JOBS") ?? String(navigator.hardwareConcurrency + 1);

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}

/** Runs `deno test` with the flags of the program and passes its output on as it arrives. A run that broke off, or
 * whose exit code is worse than its counts, has at least one failure. */
async function runTests(args: readonly string[]): Promise<Counts> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--no-prompt", "--parallel", `--v8-flags=${V8_FLAGS.join(",")}`, ...args],
    cwd: ROOT,
    env: { DENO_JOBS: JOBS },
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

/** Builds and runs; a failed build or a run without tests counts as a failure. */
export async function testAll(args: readonly string[]): Promise<Counts> {
  try {
    await bundleAll();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const counts = await runTests(args);
  if (counts.passed + counts.failed > 0) return counts;
  console.error("No test ran");
  return { ...counts, failed: 1 };
}

if (import.meta.main) {
  const counts = await testAll(Deno.args);
  console.log(summaryLine(counts));
  Deno.exitCode = counts.failed ? 1 : 0;
}
