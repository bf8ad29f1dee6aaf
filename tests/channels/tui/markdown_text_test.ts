import assert from "node:assert/strict";
import fc from "fast-check";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import { MarkdownText } from "../../../src/channels/tui/markdown_text.ts";
import { makeTheme } from "../../../src/channels/tui/theme.ts";

const ANY = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

const theme = makeTheme({ color: true, dark: true });

function drawn(pieces: readonly string[], width = 60): readonly string[] {
  const text = new MarkdownText(theme);
  for (const piece of pieces) {
    text.append(piece);
    text.lines(width);
  }
  return text.lines(width).map((line) => stripTerminalSequences(line).trimEnd());
}

const SAMPLE = `# Title

A paragraph with **bold**
on two lines.

1. one

2. two

   more of two

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted

The end.`;

Deno.test("a text in pieces looks as the same text at once, wherever it is cut", () => {
  const whole = drawn([SAMPLE]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 }), (sizes) => {
      const pieces: string[] = [];
      let at = 0;
      for (const size of sizes) {
        pieces.push(SAMPLE.slice(at, at + size));
        at += size;
      }
      assert.deepEqual(drawn([...pieces, SAMPLE.slice(at)]), whole);
    }),
    { numRuns: 40 },
  );
  assert.match(whole.join("\n"), /Title[^]*bold[^]*1\. one[^]*2\. two[^]*const a = 1;\n\n? *const b = 2;[^]*The end\./);
});

Deno.test("no line is wider than asked for, and none commands the terminal, whatever the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY, maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (raw, width) => {
      const text = new MarkdownText(makeTheme({ color: false, dark: null }));
      text.append(raw);
      for (const line of text.lines(width)) {
        // A character that is wider than the line by itself stands alone on it.
        const isOneCharacter = [...new Intl.Segmenter().segment(stripTerminalSequences(line).trim())].length === 1;
        assert.ok(visibleWidth(line) <= width || isOneCharacter, JSON.stringify({ line, width }));
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(stripTerminalSequences(line), /[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      }
    }),
    { numRuns: 200, examples: [["⺀ఁ", 1]] },
  );
});

Deno.test("no text makes the parser fail or think for long", () => {
  const texts = {
    quotes: `${">".repeat(3_000)} x`,
    lists: Array.from({ length: 300 }, (_, n) => `${" ".repeat(n * 2)}- x`).join("\n"),
    stars: "*a ".repeat(7_000),
    underscores: "_a_b".repeat(5_000),
    brackets: "[a](".repeat(5_000),
    ticks: "`".repeat(20_000),
    tags: "<a ".repeat(7_000),
  };
  for (const [name, text] of Object.entries(texts)) {
    const markdown = new MarkdownText(theme);
    markdown.append(text);
    const began = performance.now();
    assert.ok(markdown.lines(80).length > 0, name);
    assert.ok(performance.now() - began < 1_500, name);
  }
});

Deno.test("long code, tables and lists are Markdown all the same", () => {
  const code = `\`\`\`ts\nconst x = a[0] * b_c * d_e;\n${"const y = a[1] * 2;\n".repeat(2_000)}\`\`\`\n`;
  const list = Array.from({ length: 800 }, (_, n) => `- item **${n}** with \`code\``).join("\n");
  for (const line of drawn([code]).slice(1, 4)) assert.ok(line.startsWith("  const"));
  assert.match(drawn([list])[700] ?? "", /^- item 700 with code$/);
});
