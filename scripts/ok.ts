/** All checks run at the same time, so that one run shows every fault. */
import { ROOT } from "./_project.ts";
import { testAll } from "./test.ts";
import { summaryLine } from "./test_summary.ts";

const CHECKS: Readonly<Record<string, readonly string[]>> = {
  fmt: ["task", "--quiet", "fmt"],
  lint: ["task", "--quiet", "lint"],
  check: ["task", "--quiet", "check"],
  docs: ["run", "-A", "--quiet", "scripts/check_docs.ts"],
};

async function passes(name: string): Promise<boolean> {
  const started = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...CHECKS[name] ?? []],
    cwd: ROOT,
    stdin: "null",
  }).output();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  console.log(`${said}== ${name}: ${success ? "ok" : "FAILED"} (${seconds} s)`);
  return success;
}

const names = Object.keys(CHECKS);
const passed = await Promise.all(names.map(passes));
const failed = names.filter((_, at) => !passed[at]);

const counts = await testAll(Deno.args);
if (failed.length) console.error(`Failed besides tests: ${failed.join(", ")}`);
console.log(summaryLine({ ...counts, failed: counts.failed + failed.length }));
Deno.exitCode = counts.failed + failed.length ? 1 : 0;
