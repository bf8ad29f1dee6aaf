import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { baseRuntime } from "../helpers/base_runtime.ts";
import { runs } from "../helpers/long_part.ts";
import { compiledLauncher } from "./_launcher.ts";
import { bothWaysLong, oneWay } from "./_suites.ts";
import { runSuite } from "./suites/run_suite.ts";

/** The long part tests the executable of a release, and the other part tests one that is sooner made. */
const quick = runs(1, 0) === 1;
/** Each process holds this many bytes in memory. */
const BUDGET_BYTES = quick ? 5_720_000 : 4_500_000;
const ORIGINALS = fileURLToPath(new URL("../../build/rehearsal/", import.meta.url));

const launcher = await compiledLauncher({ quick });
// Without an executable, these are shown as skipped. The others run from source.
for (const suite of [runSuite, ...bothWaysLong, ...(launcher.missing === "" ? oneWay : [])]) suite(launcher);

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
    const originals = [...Deno.readDirSync(ORIGINALS)].filter(({ name }) => /\.(?:js|cache)$/.test(name));
    const parts = [ours, ...originals.map(({ name }) => Deno.readFileSync(join(ORIGINALS, name)))];
    const text = parts.map((bytes) => new TextDecoder("latin1").decode(bytes)).join("\n");
    assert.ok(/^\/\/ npm:zod@/m.test(text), "packages are named");
    assert.ok(!/^\W*\.\.\/.*\/npm\//m.test(text), "a path of a package is told");
  },
});
