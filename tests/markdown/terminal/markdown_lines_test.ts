import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { visibleWidth } from "@earendil-works/pi-tui";
import { visibleText } from "../../../src/domain/kit/text.ts";
import { parseMarkdown } from "../../../src/markdown/parse_markdown.ts";
import { markdownLines } from "../../../src/markdown/terminal/markdown_lines.ts";
import { textColumns } from "../../../src/markdown/terminal/wrap.ts";
import { terminalPaint } from "../../../src/markdown/terminal/paint.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { runs } from "../../helpers/long_part.ts";

const plain = terminalPaint({ color: false, weights: false });

function drawn(markdown: string, width = 40, paint = plain): string {
  return markdownLines(parseMarkdown(markdown, { clean: visibleText }), { width, paint }).join("\n");
}

Deno.test("markdownLines() draws nested lists, tasks, quotes and code with their indentation", () => {
  for (
    const [markdown, expected] of [
      ["9. a\n   - b\n     c\n10. d", "9. a\n   - b\n     c\n10. d"],
      ["- a\n\n- [x] b\n\n  c", "- a\n\n- [x] b\n\n      c"],
      ["> a\n> > b", "│ a\n│ \n│ │ b"],
      ["a\n\n    b\n\nc", "a\n\n  b\n\nc"],
      ["# a\n\nb\\\nc\n***", "a\n\nb\nc\n\n" + "─".repeat(40)],
      ["[a](https://e.org) <https://e.org> a@e.org www.e.org", "a (https://e.org) https://e.org a@e.org\nwww.e.org"],
      ["![a](https://e.org/i.png)", "a (https://e.org/i.png)"],
    ] as const
  ) assert.equal(drawn(markdown), expected, markdown);
});

Deno.test("markdownLines() wraps between words, and words that are too wide between characters", () => {
  assert.equal(drawn("one two  three four", 9), "one two\nthree\nfour");
  assert.equal(drawn("**ab**cd efghijklm n", 6), "abcd\nefghij\nklm n");
  assert.equal(drawn("日本語日本語", 6), "日本語\n日本語");
  assert.equal(drawn("```\nabcdefghijklmnop\n```", 12), "  abcdefghij\n  klmnop");
});

Deno.test("markdownLines() aligns columns, wraps cells, and stacks the cells of a table without room", () => {
  const table = "| a | b | c |\n|---|:-:|--:|\n| x | y | 100 |\n| long text | **z** | 1 |";
  assert.equal(
    drawn(table),
    "a         │ b │   c\n──────────┼───┼────\nx         │ y │ 100\nlong text │ z │   1",
  );
  assert.equal(drawn(table, 15), "a     │ b │   c\n──────┼───┼────\nx     │ y │ 100\nlong  │ z │   1\ntext  │   │");
  const wrapped = drawn("|wide head|x|\n|-|-|\n|a|b|", 8, terminalPaint({ color: true }));
  assert.equal(stripVTControlCharacters(wrapped).replace(/ +$/gm, ""), "wide │ x\nhead │\n─────┼──\na    │ b");
  assert.equal(drawn("|a|b|c|\n|-|-|-|\n|1||3|\n|4|", 6), "a: 1\nc: 3\n──────\na: 4");
});

Deno.test("markdownLines() paints each line for itself, nested styles too", () => {
  const paint = terminalPaint({ color: true });
  assert.equal(drawn("**a *b***", 40, paint), "\x1b[1ma \x1b[22m\x1b[1m\x1b[3mb\x1b[23m\x1b[22m");
  assert.equal(drawn("~~aa bb~~", 2, paint), "\x1b[9maa\x1b[29m\n\x1b[9mbb\x1b[29m");
  assert.equal(drawn("```diff\n+a\n```", 40, paint), "  \x1b[32m+a\x1b[39m");
  const links = terminalPaint({ color: false, weights: false, links: true });
  assert.equal(drawn("[a](https://e.org)", 40, links), "\x1b]8;;https://e.org\x1b\\a\x1b]8;;\x1b\\");
});

Deno.test("textColumns() counts columns as terminals do", () => {
  for (const text of ["abc", "日本", "e\u0301", "👩‍👩‍👧", "🇩🇪", "☺\ufe0f", "ｶﾞ", "\u200b"]) {
    assert.equal(textColumns(text), visibleWidth(text), text);
  }
});

Deno.test("markdownLines() is as wide as requested and loses no word, whatever the text", () => {
  const piece = fc.constantFrom(
    ..."* ** _ ~~ ` # > - 1. | |-| [x] a bb ccc 日 😀 https://e.org ```".split(" "),
    " ",
    "\n",
    "\n\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (pieces, width) => {
      const tree = parseMarkdown(pieces.join(""), { clean: visibleText });
      const lines = markdownLines(tree, { width, paint: plain });
      for (const line of lines) assert.ok(textColumns(line) <= width, JSON.stringify({ line, width }));
      const letters = (text: string): number => text.match(/[日😀]/gu)?.length ?? 0;
      assert.ok(
        letters(lines.join("")) >= letters(JSON.stringify(tree, (key, value) => key === "language" ? "" : value)),
      );
    }),
    { numRuns: runs(125, 500) },
  );
});

Deno.test("markdownLines() takes time in proportion to a hostile text", () => {
  const n = runs(5_000, 100_000);
  for (const piece of ["> ", "- ", "*a ", "a|", "`a` ", "日", "[a](http://e.org)", "| a ", "1. ", "\ta", "a\u0301"]) {
    for (
      const text of [
        piece.repeat(n / piece.length),
        `${piece}\n`.repeat(n / 5),
        `|a|\n|-|\n|${piece.repeat(n / 5)}|`,
      ]
    ) {
      const began = cpuMs();
      drawn(text, 30);
      assert.ok(cpuMs() - began < n * 0.04, `${piece} ${cpuMs() - began}`);
    }
  }
});
