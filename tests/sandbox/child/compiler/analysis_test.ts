import assert from "node:assert/strict";
import { parse } from "acorn";
import { freeNames } from "../../../../src/sandbox/child/compiler/analysis.ts";

const CASES: readonly (readonly [source: string, free: string])[] = [
  ["a", "a"],
  ["a.b.c[d]", "a d"],
  ["({ a, b: c, [d]: e, f() { return g } })", "a c d e g"],
  ["x = y", "x y"],
  ["x += 1; y++", "x y"],
  ["[a, b.c, ...d] = e", "a b d e"],
  ["({ a, b: c = d, ...e } = f)", "a c d e f"],
  ["function f(a, b = c, { d, e: [g] } = h, ...i) { return a + b + d + g + i + j }", "c h j"],
  ["const f = (a, b = a) => a + b + c", "c"],
  ["const f = function g() { return g + h }", "h"],
  ["function f() { return arguments }", ""],
  ["const f = () => arguments", "arguments"],
  [
    "class A extends B { x = y; static z = w; [k] = 1; #p = q; m() { return A + this.#p + super.n } static { let l = o; l } }",
    "B y w k q o",
  ],
  ["const C = class D { d() { return D } }", ""],
  ["try { a } catch (e) { e; b } finally { c }", "a b c"],
  ["try { a } catch ({ message: m = d }) { m }", "a d"],
  ["for (let i = 0; i < n; i++) { i; k }", "n k"],
  ["for (const [k, v] of Object.entries(o)) k + v", "Object o"],
  ["for (x of y) z", "x y z"],
  ["for (var v in o) v", "o"],
  ["{ let a; { var b; const c = a; } } b + c", "c"],
  ["switch (a) { case b: let c; default: c; d }", "a b d"],
  ["label: for (;;) { break label }", ""],
  ["typeof a; delete b.c; void d", "a b d"],
  ["`${a}${tag`x${b}`}`", "a tag b"],
  ["new A(...b)", "A b"],
  ["async () => { for await (const a of b) await c(a) }", "b c"],
  ["function* g() { yield a; yield* b }", "a b"],
  ["if (x) { function f() {} } f", "x f"],
  ["let x = x0; { let x = x1; x } x", "x0 x1"],
  ["const f = (x) => { var y = x; { let y = z; y } return y }", "z"],
  ["a?.b?.(c)", "a c"],
  ["f(); function f() { return g } ; var g", ""],
  ["(function () { new.target }); import.meta", ""],
  ["using r = open(); r", "open"],
  ["({ __proto__: a, 'b': c, 1: d })", "a c d"],
];

Deno.test("freeNames() scopes: parameters, catches, classes, patterns, shadowing", () => {
  for (const [source, expected] of CASES) {
    const program = parse(
      source,
      {
        ecmaVersion: "latest",
        sourceType: "module",
        allowAwaitOutsideFunction: true,
        allowNewDotTargetOutsideFunction: true,
      } as Parameters<typeof parse>[1],
    );
    assert.deepEqual(freeNames(program), expected.split(" ").filter((name) => name !== ""), source);
  }
});
