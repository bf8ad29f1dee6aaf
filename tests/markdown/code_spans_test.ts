import assert from "node:assert/strict";
import fc from "fast-check";
import { type CodeSpan, codeSpans } from "../../src/markdown/code_spans.ts";
import { cpuMs } from "../helpers/cpu_ms.ts";
import { runs } from "../helpers/long_part.ts";

const LANGUAGES = ["ts", "rust", "python", "sql", "css", "html", "diff", "klingon"];
const ANY = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom(..."/*'\"`#-<>=!@\\\n f1"),
);

function named(spans: readonly CodeSpan[]): readonly string[] {
  return spans.filter(({ kind }) => kind !== "plain").map(({ kind, text }) => `${kind} ${text}`);
}

Deno.test("codeSpans() distinguishes comments, strings, keywords and numbers, also unfinished ones", () => {
  for (
    const [language, code, expected] of [
      ["ts", 'const a = "x // y"; // 1\nreturn 42 + f(true) + `open', [
        ...["keyword const", 'string "x // y"', "comment // 1", "keyword return", "number 42", "call f", "value true"],
        "string `open",
      ]],
      ["Python", "x = f'a' + don't # c\n\"\"\"open", ["string f'a'", "comment # c", 'string """open']],
      ["rust", "fn a<'a>(x: &'a u8) { 'x' }", ["keyword fn", "string 'x'"]],
      ["sql", "select a -- c\nWHERE b = 'it'", ["keyword select", "comment -- c", "keyword WHERE", "string 'it'"]],
      ["yaml", "a: don't # c\nb: 1", ["comment # c", "number 1"]],
      ["css", '@media { a { b: "x" } /* c', ["keyword @media", 'string "x"', "comment /* c"]],
      ["html", '<a b="x">don\'t</a><!-- c', [
        ...["keyword <a", 'string "x"', "keyword >", "keyword </a", "keyword >", "comment <!-- c"],
      ]],
      ["klingon", "const a = 1", []],
    ] as const
  ) assert.deepEqual(named(codeSpans(code, language)), expected, language);
});

Deno.test("codeSpans() distinguishes the lines of a diff by the counts of each hunk", () => {
  const diff =
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n--- a\n+++ b\n c\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-d\n+e";
  assert.deepEqual(codeSpans(diff, "diff").map(({ kind }) => kind), [
    ...["file", "file", "file", "place", "removed", "added", "plain", "file", "file", "place", "removed", "added"],
  ]);
});

Deno.test("codeSpans() covers every character of any text", () => {
  fc.assert(fc.property(fc.string({ unit: ANY }), fc.constantFrom(...LANGUAGES), (code, language) => {
    assert.equal(codeSpans(code, language).map(({ text }) => text).join(""), code);
  }));
});

Deno.test("codeSpans() takes time in proportion to a hostile text", () => {
  const pieces = [
    "/*",
    "`",
    '"\\',
    "'",
    '"""',
    "'''",
    "\\'",
    "f'",
    "<!--",
    '="',
    "<a",
    "#",
    "--",
    "f",
    "_(",
    "'\\'",
    "+\n",
  ];
  const n = runs(40_000, 100_000);
  for (const language of LANGUAGES) {
    for (const piece of pieces) {
      const began = cpuMs();
      codeSpans(piece.repeat(n / piece.length), language);
      assert.ok(cpuMs() - began < n * 0.015, `${language} ${piece}`);
    }
  }
});
