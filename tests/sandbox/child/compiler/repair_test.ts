import assert from "node:assert/strict";
import { prepare } from "../block_runner.ts";

const REPAIRED: readonly (readonly [source: string, code: RegExp, note: RegExp])[] = [
  ["```ts\nconst x: number = 1\nx\n```", /x\s+= 1/, /fence/],
  ["```\n1 + 1\n```", /return\(1 \+ 1/, /fence/],
  ["  ```javascript\n1 + 2\n```  ", /return\(1 \+ 2/, /fence/],
  ["```js\n1 + 3", /return\(1 \+ 3/, /fence/],
  ["~~~ts\n1 + 4\n~~~", /return\(1 \+ 4/, /fence/],
  ["Here is the code:\n```ts\nconst a = 1\n```\nThat is all.", /a = 1/, /fence/],
  ["for (let i = 0; i &lt; 3; i++) {}", /i < 3/, /HTML/],
  ["const f = a =&gt; a", /a => a/, /HTML/],
  ["if (a &amp;&amp; b) { 1 }", /a && b/, /HTML/],
  ["const s = &quot;x&quot;", /"x"/, /HTML/],
  ["const q = a &lt; b;", /a < b/, /HTML/],
  ["foo(1, [2, 3]", /\[2, 3\]\n\)/, /missing "\)"/],
  ["const a = [1, 2", /1, 2\n\]/, /missing "\]"/],
  ["if (a) {\n  b()", /b\(\)\n\}/, /missing "\}"/],
  ["```ts\nfoo(1\n```", /foo\(1\n\)/, /fence; added/],
  ["f(a &lt; b", /a < b\n\)/, /HTML.*; added/],
];

Deno.test("prepareBlock() repairs small faults once and names them", () => {
  for (const [source, code, note] of REPAIRED) {
    const block = prepare(source);
    assert.ok(block.ok, source);
    assert.match(block.code, code, source);
    assert.match(block.repaired ?? "", note, source);
  }
});

Deno.test("prepareBlock() does not change readable code", () => {
  for (
    const source of [
      "const a = '&lt;'",
      "a & b",
      "const t = `\\`\\`\\`ts`",
      "const lt = 1; const c = 2 & lt;",
      "'```'.length",
    ]
  ) {
    const block = prepare(source);
    assert.ok(block.ok, source);
    assert.equal(block.repaired, null, source);
  }
});

Deno.test("prepareBlock() does not guess beyond one bracket", () => {
  for (const source of ["foo(bar(", "if (a) { b(", "const a = `x", "const s = 'x", "a b", "foo)"]) {
    assert.ok(!prepare(source).ok, source);
  }
});

Deno.test("prepareBlock() positions after a repair refer to the given text", () => {
  const fenced = prepare("Some prose\n```ts\nconst a = 1\nconst b = a +* 2\n```");
  assert.ok(!fenced.ok);
  assert.deepEqual(
    [fenced.error.line, fenced.error.column],
    [1, 6],
    "the prose is the first fault of the text as given",
  );
  const leading = prepare("```ts\nconst a = 1\nconst b = a +* 2\n```");
  assert.ok(!leading.ok);
  assert.deepEqual([leading.error.line, leading.error.column], [3, 14]);
  assert.equal(leading.error.excerpt, "const b = a +* 2\n             ^");
});
