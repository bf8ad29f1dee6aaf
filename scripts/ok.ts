/** `deno task ok`: format, lint, types, docs and tests. All of them run, so that one run shows everything; a failed
 * check counts as one failure in the last line. */
import { join } from "node:path";
import { ROOT } from "./_project.ts";
import { testAll } from "./test.ts";
import { summaryLine } from "./test_summary.ts";

const CHECKS = ["fmt", "lint", "check"];
/** Checks whether generated pages are current, if the script exists. */
const DOCS_CHECK = "scripts/check_docs.ts";

async function passes(name: string, args: readonly string[]): Promise<boolean> {
  const started = performance.now();
  console.log(`== ${name}`);
  const { success } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd: ROOT, stdin: "null" }).spawn()
    .status;
  console.log(`== ${name}: ${success ? "ok" : "FAILED"} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return success;
}

const failed: string[] = [];
for (const name of CHECKS) {
  if (!await passes(name, ["task", "--quiet", name])) failed.push(name);
}
const hasDocsCheck = await Deno.stat(join(ROOT, DOCS_CHECK)).then(() => true, () => false);
if (hasDocsCheck && !await passes("docs", ["run", "-A", "--quiet", DOCS_CHECK])) failed.push("docs");

const counts = await testAll(Deno.args);
if (failed.length) console.error(`Failed besides tests: ${failed.join(", ")}`);
console.log(summaryLine({ ...counts, failed: counts.failed + failed.length }));
Deno.exitCode = counts.failed + failed.length ? 1 : 0;
