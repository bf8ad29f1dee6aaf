import assert from "node:assert/strict";
import { baseRuntime } from "../helpers/base_runtime.ts";
import { compiledLauncher } from "./_launcher.ts";
import { bothWays, oneWay } from "./_suites.ts";

/** With a runtime of 92.2 MB the executable is below 100 MB, and somewhat is left. */
const BUDGET_BYTES = 7_700_000;

const launcher = await compiledLauncher();
// Without an executable these are shown as skipped; the others run from source.
for (const suite of [...bothWays, ...(launcher.missing === "" ? oneWay : [])]) suite(launcher);

const { DENORT_BIN: base } = (await baseRuntime()).env;
Deno.test({
  name: `the executable embeds no more than its budget, and no path of the machine that made it${
    base ? "" : " (skipped: DENORT_BIN is not set)"
  }`,
  ignore: !base,
  fn: async () => {
    await launcher.ready();
    const ours = (await Deno.readFile(launcher.argv[0])).subarray((await Deno.stat(base ?? "")).size);
    assert.ok(ours.length <= BUDGET_BYTES, `${ours.length} bytes`);
    const text = new TextDecoder("latin1").decode(ours);
    assert.ok(/^\/\/ npm:zod@/m.test(text), "packages are named");
    assert.ok(!/^\W*\.\.\/.*\/npm\//m.test(text), "a path of a package is told");
  },
});
