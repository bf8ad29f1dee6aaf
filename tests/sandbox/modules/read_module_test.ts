import assert from "node:assert/strict";
import { moduleReader } from "../../../src/sandbox/modules/modules.ts";

Deno.test("moduleReader() strips types and finds imports by a literal, and no others", () => {
  const read = moduleReader();
  const { code, imports } = read(
    `import a from "./a.ts"; import type { B } from "./b.ts"; import "./c.ts"; export * from './d.ts';
     export { e } from "./e.ts"; const f = () => import("./f.ts"); const g: string = 'import "./g.ts"';
     // import "./h.ts"
     const i = (name: string) => import(name); a(f, g, i);`,
    "mod.ts",
  );
  assert.deepEqual(imports.map(({ specifier }) => specifier), ["./a.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"]);
  for (const { specifier, start, end } of imports) assert.equal(code.slice(start + 1, end - 1), specifier);
  assert.doesNotMatch(code, /: string/);
  assert.equal(read("const a = 1 < 2;", "a.js").code, "const a = 1 < 2;");
  assert.throws(() => read("const a: = 1", "a.ts"), SyntaxError);
});
