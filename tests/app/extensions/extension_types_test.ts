import assert from "node:assert/strict";
import { moduleOf } from "../../extension/_folders.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { adminIn, faultsOf } from "./_admin.ts";

Deno.test("create() writes an extension whose checks hold", () =>
  withFolder(async (folder) => {
    const { admin } = await adminIn(folder);
    const checks = await admin.check(await admin.create("greet"));
    assert.deepEqual(checks.map(({ what, ok }) => [what, ok]), [
      ["my.greet", true],
      ["types", true],
      ['greet.hello("Ada")', true],
      ['greet.hello("")', true],
    ], JSON.stringify(checks));
  }));

Deno.test("check() finds parts that throw, an invalid type, and undefined names", async () => {
  const named = (name: string, fields: string): string =>
    moduleOf(fields).replace("test.a", `test.${name}`).replace("vis.ext.a", `vis.ext.${name}`)
      .replace('alias: "a"', `alias: "${name}"`);
  const throws = (key: string): string => `${key}: () => { throw new Error("boom"); },`;
  const names = ["a", "b", "c", "d"];
  const extensions = names.map((name) => ({ namespace: `test.${name}`, version: "1.0.0", entry: `${name}.ts` }));
  const faults = await faultsOf({
    "vis.json": JSON.stringify({ extensions }),
    "a.ts": named("a", throws("activate")),
    "b.ts": named("b", throws("prompt")),
    "c.ts": named("c", throws("nudge")),
    "d.ts": `${named("d", "").replace('"number"', '"nonsense<<"')}\nexport const x: number = "a";\nimport "./half.js";`,
    "half.js": "export function half() {\n  return abut / 2;\n}",
  });
  assert.deepEqual(faults.slice(0, 5), [
    "test.a activate: boom (a.ts:5)",
    "test.b prompt: boom (b.ts:5)",
    "test.c nudge: boom (c.ts:5)",
    "half.js:2: abut is not defined",
    "d.f: returns is not a TypeScript type: nonsense<<",
  ]);
  assert.match(faults.slice(5).join(), /^types: .*Type 'string' is not assignable to type 'number'.*d\.ts:\d+/s);
});
