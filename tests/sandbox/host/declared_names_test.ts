import assert from "node:assert/strict";
import { declaredNames } from "../../../src/sandbox/host/_child_link.ts";
import { prepare } from "../child/block_runner.ts";

Deno.test("declaredNames() finds the names that preparing a block finds", () => {
  const blocks = [
    "const a = 1, b = f(2, c), d = [3, e]\nlet g\nvar h = { i: 1 }, j",
    "async function f(a) { const b = 1 }\nfunction* g() {}\nclass A { let = 1 }\nenum E { B }",
    "const { a, b: [c = 3], d: e = {}, ...rest } = f(g)\nconst [x, , y] = z",
    "// const a = 1\n/* let b */ const c = 'let d', e = \"var f\", g = `class h ${1}`",
    "const text = 'open // }'; { const inner = 1 }\nif (x) { let y }\nconst last = o.const, ünï = 1",
    "const x: number = 1, list: string[] = []",
    "1 + 1",
  ];
  for (const code of blocks) {
    const block = prepare(code);
    assert.ok(block.ok, code);
    assert.deepEqual(declaredNames(code), block.declarations.map(({ name }) => name), code);
  }
});

Deno.test("declaredNames() a text that is no program gives names or none", () => {
  for (const code of ["", "const", "let {", "`", "}}} const a = 1", "/*", "const a = 1;".repeat(100_000)]) {
    assert.ok(Array.isArray(declaredNames(code)));
  }
});
