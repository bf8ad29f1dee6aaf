import assert from "node:assert/strict";
import fc from "fast-check";
import { HostCallError } from "../../../src/domain/errors.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { SHIPPED } from "./_shipped.ts";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Sizes are near the limit for the values of a call. A larger call does not reach a function. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(0, 1, 1_000, 40_000).chain((count) =>
    fc.constantFrom<unknown>(1, "", "a*", null, [], { path: "a.txt", old: "a", new: "b" }, { old: "a" }).map((item) =>
      Array(count).fill(item)
    )
  ),
  fc.constantFrom(1, 1_000, 40_000).map((count) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))
  ),
  fc.constantFrom("a", "\n", "{", "[", "é", "*", "../", "a/", "(a|b)*", "\0").chain((part) =>
    fc.constantFrom(1, 300, 20_000).map((count) => part.repeat(count))
  ),
  fc.constantFrom<unknown>(NaN, -1, 2 ** 53, 1e308, new Date(NaN), new Map([[1, 2]]), new Uint8Array(1 << 16)),
  fc.constantFrom(10, 500).map((depth) => {
    let value: unknown = 1;
    for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { value };
    return value;
  }),
);

Deno.test("every function of every shipped extension answers hostile sizes and shapes with a value or a short error", async () => {
  const workspace = await Deno.makeTempDir();
  await Deno.writeTextFile(`${workspace}/a.txt`, "a\n".repeat(1_000));
  const registry = new ExtensionRegistry({ log: SILENT, config: { "vis.web": { hosts: ["*.invalid"] } } });
  for (const extension of SHIPPED) registry.register(extension);
  const env = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace, maxIterations: 4 };
  const active = await registry.activate(env);
  assert.ok(active.functions.length > 20, active.functions.join());
  for (const name of active.functions) {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 3 }), async (args) => {
        try {
          await active.call(name, args, { env, signal: AbortSignal.timeout(60_000) });
        } catch (error) {
          assert.ok(error instanceof HostCallError, name);
          assert.ok(error.message.length < 50_000, `${name}: an error of ${error.message.length} characters`);
        }
      }),
      { seed: 11, numRuns: 12 },
    );
  }
  await Deno.remove(workspace, { recursive: true });
});
