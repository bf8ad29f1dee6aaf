import assert from "node:assert/strict";
import { sourcePosition } from "../../../../src/sandbox/child/compiler/errors.ts";
import { readCorpus } from "../../../conformance/corpus/read_corpus.ts";
import { parseText } from "../../../../src/sandbox/child/compiler/parse.ts";
import { prepare } from "../block_runner.ts";

function read(text: string): string {
  const parsed = parseText(text, () => assert.fail("this is JavaScript"));
  assert.ok(parsed.ok, text);
  return parsed.js;
}

Deno.test("a line that begins with a bracket ends the statement before it", () => {
  for (
    const [text, js] of [
      ["const s = await f()\n[c.short, s.x]", "const s = await f()\n;[c.short, s.x]"],
      ["a // b\n(c)", "a // b\n;(c)"],
      ["(a)\n/* b */\n`t`", "(a)\n/* b */\n;`t`"],
      ["throw new Error('x')\n({ a: 1 })", "throw new Error('x')\n;({ a: 1 })"],
      ["if (x) {\n  f()\n  [a, b] = [b, a]\n}", "if (x) {\n  f()\n  ;[a, b] = [b, a]\n}"],
      ["f = function () {\n}\n(g)\n[1]", "f = function () {\n}\n;(g)\n;[1]"],
    ] as const
  ) assert.equal(read(text), js, text);
});

Deno.test("lines that continue a statement stay", () => {
  for (
    const text of [
      "const s = f\n  (1)",
      "const a = list\n  .map(f)\n  [0]",
      "f(\na\n[0]\n)",
      "const o = { a: b\n[c] }",
      "f\n?.[0]",
      "if (a) b\n(c)\nelse d",
      "const t = `\n[a]\n(b)`",
      "const a = 1\n\n;[a]",
      "`${a\n(b)}`",
    ]
  ) assert.equal(read(text), text, text);
});

Deno.test("a separated line keeps the positions of errors", () => {
  const source = "const s = f()\n[c.short, s.x]", block = prepare(source);
  assert.ok(block.ok);
  const at = block.code.indexOf("c.short"), before = block.code.slice(0, at).split("\n");
  const place = { line: before.length, column: before.at(-1)!.length + 1 };
  assert.deepEqual(sourcePosition(place, { ...block, source }), { line: 2, column: 2 });
});

Deno.test("programs of the corpus are as before, except for a marked one", () => {
  const changed = readCorpus().filter(({ language, known }) => language === "js" && known?.key !== "separated lines")
    .flatMap(({ name, text, value = "" }) => {
      const code = text === "" ? value : `${text}\n;(${value})`;
      const parsed = parseText(code, () => (js) => ({ code: js }));
      return parsed.ok && parsed.js !== code && !code.includes("<!--") ? [`${name}: ${code}`] : [];
    });
  assert.deepEqual(changed, []);
});
