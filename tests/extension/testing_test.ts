import { sample, twice } from "./_sample.ts";
import { type EnvironmentView, z } from "@vis/extension";
import { testExtension } from "@vis/extension/testing";
import assert from "node:assert/strict";

Deno.test("testExtension() calls a function as a block would: with its checks, its hooks and its environment", async () => {
  const seen: unknown[] = [];
  const extension = sample({
    config: z.strictObject({ factor: z.number() }),
    prompt: "Doubles numbers.",
    nudge: ({ iteration, prevExpressions }) => `${iteration} ${prevExpressions?.[0]?.result}`,
    symbols: [
      twice((env: EnvironmentView, n: number) => n * (env.config as { factor: number }).factor, {
        before: ({ args, env }) => {
          seen.push(env.workspace, args);
          return { args: [Number(args[0]) + 1] };
        },
        after: ({ result }) => ({ result: `= ${result}` }),
      }),
    ],
  });
  const tested = await testExtension(extension, { env: { workspace: "/work" }, config: { factor: 2 } });
  assert.equal(await tested.call("sample.twice", 4), "= 10");
  assert.deepEqual(seen, ["/work", [4]]);
  await assert.rejects(tested.call("sample.twice", "four"), { name: "HostCallError" });
  await assert.rejects(tested.call("sample.twise", 1), { message: /^Cannot call sample\.twise/ });
  assert.equal(tested.isActive, true);
  assert.match(tested.prompt, /Doubles numbers\.[^]*sample\.twice\(n\): number/);
  assert.match(tested.doc("sample.twice") ?? "", /Doubles\./);
  const ran = { code: "1", preview: "1", stdout: "", stderr: "", executionTimeMs: 1, timedOut: false, repaired: false };
  assert.equal(await tested.nudge({ iteration: 2, prevExpressions: [{ ...ran, result: 1 }] }), "2 1");
});

Deno.test("testExtension() explains faults, and returns the log", async () => {
  const config = z.strictObject({ factor: z.number() });
  await assert.rejects(testExtension(sample({ config }), { config: { factor: "two" } }), /factor/);
  const logged: unknown[] = [];
  const off = sample({
    activate: () => {
      throw new Error("Boom");
    },
  });
  const tested = await testExtension(off, { log: (event, data) => logged.push(event, data["error"]) });
  assert.deepEqual([tested.isActive, tested.prompt, await tested.nudge()], [false, "", null]);
  assert.deepEqual(logged, ["extension.failed", "Boom"]);
});
