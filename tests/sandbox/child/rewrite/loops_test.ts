import assert from "node:assert/strict";
import vm from "node:vm";
import { FunctionNames } from "../../../../src/sandbox/child/prepare/function_names.ts";
import { BlockRunner, prepare } from "../block_runner.ts";

const isLocal = (source: string, names = new FunctionNames()): boolean => {
  const block = prepare(source, names);
  assert.ok(block.ok, source);
  return block.code.includes("finally{put\u200d");
};

/** Programs whose loops work on local variables, and names that they leave. */
const LOCAL: readonly (readonly [source: string, names: string])[] = [
  ["let s = 0; for (let i = 0; i < 9; i++) s += i / 2", "s"],
  ["let s = 0\nfor (let i = 0; i < 9; i++) { s += i / 2 }\ns", "s"],
  ["let s = 0, n = 3; while (n > 0) { s += n; n-- }", "s n"],
  ["let s = 0, n = 3; while (n--) s += 0.5", "s n"],
  ["let s = 0, n = 9; while ((n--)) if (n > 4) s += 0.5; else break", "s n"],
  ["var s = 0; for (var i = 0, k = 4; i < k; (i++)) { if (i === 2) continue; s += Math.sqrt(i) }", "s i k"],
  ["let s = 0; for (const x of [1.5, 2.5]) s += x", "s"],
  ["let s = 0, x; for (x of [1.5, 2.5]) { s += x }", "s x"],
  ["let s = 0; for (var [a, b] of [[1, 2]]) s += a * b", "s a b"],
  ["let s = ''; for (const k in { a: 1, b: 2 }) s += k", "s"],
  ["let s; for (let i = 0; i < 3; i++) s = i", "s"],
  ["let s = 1; for (let i = 0; i < 70; i++) s *= 2; s", "s"],
  ["let s = 1n, t = -0; for (let i = 0; i < 70; i++) { s *= 2n; t = -t }", "s t"],
  ["let s = 1; for (let i = 0; i < 5; i++) s = i % 2 ? i : `${i}`", "s"],
  ["let s = 0; for (let i = 0; ; i++) { if (i > 5) break; s = NaN }", "s"],
  ["let s = 0, i = 0; for (;;) { s += 0.1; if (++i > 5) break }", "s i"],
  ["let s = 0; for (let i = 0; i < 5; i++) { let s2 = i; s2 *= 2; { let q = 1; q++; s += s2 + q } }", "s"],
  [
    "let s = 0; outer: for (let i = 0; i < 5; i++) { for (let j = 0; j < 5; j++) { if (j > i) continue outer; s += j / 2 } }",
    "s",
  ],
  ["let s = 0; if (true) { for (let i = 0; i < 3; i++) s += i } else for (;;) s++", "s"],
  ["const xs = [1, 2]; let s = 0; for (let i = 0; i < 2; i++) { xs[i] = s; s += xs[i] + 1 }", "xs s"],
  [
    "let s = 0; for (let i = 0; i < 2; i++) for (const y of [1, 2]) { for (let j = 0; j < y; j++) { if (j) continue; s += y } }",
    "s",
  ],
  ["let a = 1, b = 1; for (let i = 0; i < 10; i++) [a, b] = [b, a + b]", "a b"],
  ["let o = {}, a = 0; for (let i = 0; i < 3; i++) ({ a, b: o.b = 5 } = { a: i })", "o a"],
  [
    "let s = 0; const log = []; for (const f of [1, 2]) { log.push(f); for (let i = 0; i < f; i++) s += i + f }",
    "s log",
  ],
  ["let s = 0; const f = (x) => x / 2; for (let i = 0; i < 3; i++) s += f(i)", "s"],
  [
    "let s = 0, d; for (let i = 0; i < 3; i++) { const x = Number(`${i}`)\nd = new Date(x)\ns += x + 0.5\nString(x) }",
    "s d",
  ],
  ["let s = 0; for (const x of [1, 2]) if (x > 1) s += Number(x); else s -= Number(x)", "s"],
  ["let s = 0; for (const x of [1, 2]) switch (x) { case 1: s += Number(x)\ndefault: s = s + Number(x) }", "s"],
  ["function f() {} for (var i = 0; i < 3; i++);\ni", "i"],
];

Deno.test("loopEdits() loops come to what they come to plainly", async () => {
  for (const [source, names] of LOCAL) {
    assert.ok(isLocal(source), source);
    const result = `[${names.split(" ").join(", ")}]`;
    const plain: unknown = new vm.Script(`(() => { "use strict";\n${source}\n;return ${result} })()`)
      .runInThisContext();
    using runner = new BlockRunner();
    assert.deepEqual(await runner.value(source, result), plain, source);
    assert.equal(runner.numbers.names, "");
  }
});

Deno.test("loopEdits() what may be seen from elsewhere stays where it is", () => {
  const others = [
    "let s = 0; const f = () => s; for (let i = 0; i < 3; i++) s += i",
    "let s = 0; class A { get s() { return s } }; for (let i = 0; i < 3; i++) s += i",
    "let s = 0; for (let i = 0; i < 3; i++) { s += i; if (g()) s++ }",
    "let s = 0; for (let i = 0; i < 3; i++) g(s += i)",
    "let s = 0; for (let i = 0; i < 3; i++) s = (s++, g(s))",
    "let s = 0; for (let i = g(); i < 3; i++) s += i",
    "let s = 0; for (let i = 0; i < g(); i++) s += i",
    "let s = 0; for (let i = 0; i < 3; i++) { var t = g(); s += t }",
    "let s = 0; for (let i = 0; i < 3; i++) { s += await i }",
    "let s = 0; for await (const i of []) s += i",
    "let s = 0; for (const i of [1]) { if (i) continue; s += i }",
    "let s = 0; for (let i = 0; i < 3; i++) { s += i; globalThis.x = s }",
    "for (let i = 0; i < 3; i++) s += i",
    "let s = 0, n = 0; { let n = 1; for (let i = 0; i < 3; i++) { n += i; s += n } }",
    "let s = 0; for (let i = 0; i < 3; i++) { n += i; s += i }",
    "const xs = []; for (let i = 0; i < 3; i++) xs[i] = i",
  ];
  for (const source of others) assert.equal(isLocal(source), false, source);
  const loop = "let s = 0; for (let i = 0; i < 3; i++) s += i";
  const names = new FunctionNames();
  prepare("const show = { valueOf() { return s } }", names);
  assert.equal(isLocal(loop, names), false);
  assert.equal(isLocal(loop.replaceAll("s", "t"), names), true);
  const restored = new FunctionNames();
  restored.addImages([{ name: "f", kind: "function", requires: ["s"] }, { name: "s", kind: "data", requires: [] }]);
  assert.equal(isLocal(loop, restored), false);
  const wide = new FunctionNames();
  prepare("const all = globalThis", wide);
  assert.equal(isLocal(loop, wide), false);
  assert.equal(prepare(loop).ok && isLocal(loop), true);
});

Deno.test("loopEdits() an error in a loop leaves what it came to, at its place", async () => {
  using runner = new BlockRunner();
  const source = "let s = 0, last = null\nfor (let i = 0; i < 9; i++) {\n  s += i / 2\n  if (i === 3) last.x = 1\n}";
  const { error } = await runner.run(source);
  assert.match(String(error), /null/);
  assert.match(String(error instanceof Error && error.stack), /block0:4:/);
  assert.equal(await runner.value("s"), 3);
});

Deno.test("loopEdits() a getter of an earlier block sees what the loop has done", async () => {
  using runner = new BlockRunner();
  await runner.run("const spy = { seen: [], get x() { this.seen.push(s); return 1 } }");
  await runner.run("let s = 0; for (let i = 0; i < 3; i++) s += spy.x");
  assert.deepEqual(await runner.value("spy.seen"), [0, 1, 2]);
});
