import assert from "node:assert/strict";
import { restoredFault } from "../../../../src/sandbox/child/compiler/refusals.ts";
import type { RestoredSource } from "../../../../src/sandbox/child/compiler/restored_script.ts";

const OUT = "Array.prototype.map = () => []";

function image(source: string, { name = "f", kind = "function", declaration = "const" } = {}): RestoredSource {
  const summary = { declaration, type: "", size: null, shape: "", inline: null, doc: "" };
  return { name, kind: kind as RestoredSource["kind"], source, summary };
}

Deno.test("restoredFault() accepts the declarations of a block", () => {
  const functions = ["() => 1", "async (a) => { await a }", "function f(a) { return a }", "function* f() {}", "x => x"];
  for (const source of functions) {
    assert.equal(restoredFault(image(source)), null, source);
    assert.equal(restoredFault(image(source, { declaration: "function" })), null, source);
  }
  const classes = ["class {}", "class A extends B { static x = 1 }"];
  for (const source of classes) assert.equal(restoredFault(image(source, { kind: "class" })), null, source);
});

Deno.test("restoredFault() any other code is not evaluated", () => {
  const functions = [
    ...["", "1", OUT, `(${OUT}, () => 1)`, `() => 1; ${OUT}`, `() => 1\n${OUT}`, `(() => { ${OUT} })()`, "class {}"],
    ...["new (class {})()", "`${f()}`", "f()", "f", "() => 1, g()", "g = () => 1", "() => {}}{", "({ f() {} }).f"],
    ...["await (() => 1)", "import('x')", "f ?? (() => 1)"],
  ];
  for (const source of functions) {
    assert.match(restoredFault(image(source)) ?? "", /not one function or class/, source);
    assert.notEqual(restoredFault(image(source, { declaration: "function" })), null, source);
  }
  const heads = [
    `function /*(a){}; ${OUT}; (*/ f(){}`,
    `function //(\n f(){}\n/**/;${OUT}`,
    `async function /*f(){}; ${OUT} /**/ f(){}`,
  ];
  for (const source of heads) {
    const fault = restoredFault(image(source, { declaration: "function" }));
    if (source.includes(`;${OUT}`)) assert.match(fault ?? "", /not one function/, source);
  }
  const classes = [
    ...[
      "(() => {})()",
      "A[f()]",
      "A.b()",
      "A.B.C",
      "new A()",
      "(o => (f(o), o))({})",
      "(o => ((function (A) {})(o), f))({})",
    ],
    ...["(o => ((function (A) {})(f()), o))({})", `(o => ((function (A) {})(o), o))(${OUT})`, "((o, p) => o)({})"],
    ...["(o => o)({ get a() { return 1 } })", "(o => o)({}, f())", "((o = f()) => o)({})", "() => 1", "A?.b"],
    "(o => ((function (A) {A.x = 1})(o), o))({})",
  ];
  for (const source of classes) {
    assert.match(restoredFault(image(source, { kind: "class" })) ?? "", /not one function or class/, source);
  }
});

Deno.test("restoredFault() refuses forbidden code and forbidden names", () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ["() => import('node:fs')", /import\(\) is not available/],
    ["() => arguments", /arguments exists only inside a function/],
    ["() => import.meta.url", /not one function/],
  ];
  for (const [source, why] of refused) assert.match(restoredFault(image(source)) ?? "", why, source);
  for (const name of ["globalThis", "undefined", "dispatchEvent", "$query", "$answer"]) {
    assert.match(restoredFault(image("() => 1", { name })) ?? "", /no block may declare its name/, name);
  }
  for (const name of ["", "a b", `f = 1; ${OUT}; f`, "let", "yield", "a.b", "f//", "[f]"]) {
    assert.match(restoredFault(image("() => 1", { name })) ?? "", /not one function/, name);
  }
});
