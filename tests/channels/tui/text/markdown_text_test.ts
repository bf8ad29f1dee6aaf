import assert from "node:assert/strict";
import fc from "fast-check";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import { MarkdownText } from "../../../../src/channels/tui/text/markdown_text.ts";
import { makeTheme } from "../../../../src/channels/tui/text/theme.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";
import { runs } from "../../../helpers/long_part.ts";

/** Generates any code unit, and more often marks of Markdown and characters with an unusual number of columns. */
const ANY = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
  fc.constantFrom(..."*`_>-|#1[]() \n", "\u0903", "\u0301", "\ufe0f", "\u200d", "\u0e33", "क", "्", "☺", "ﾞ", "😀", "🇩"),
);

/** One character of 61 columns. */
const WIDE = `a${"\u0903".repeat(60)}`;

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

Deno.test("no line is wider than requested, and none commands the terminal, whatever the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY, maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (raw, width) => {
      const text = new MarkdownText(makeTheme({ color: false, dark: null }));
      text.append(raw);
      for (const line of text.lines(width)) {
        const alone = width === 1 && [...stripTerminalSequences(line).trim()].length === 1;
        assert.ok(visibleWidth(line) <= width || alone, JSON.stringify({ line, width }));
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(stripTerminalSequences(line), /[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      }
    }),
    {
      numRuns: runs(50, 200),
      examples: [["⺀ఁ", 1], [WIDE, 7], [`- ${WIDE}\n> **${WIDE}**\n\n|a|\n|-|\n|${WIDE}|`, 20]],
    },
  );
});

Deno.test("a character that is wider than the screen continues in the next line, in its colours", () => {
  const text = new MarkdownText(theme);
  text.append(`**${WIDE}**`);
  const lines = text.lines(20).map((line) => line.trimEnd()).filter((line) => stripTerminalSequences(line) !== "");
  assert.equal(lines.map(stripTerminalSequences).join(""), WIDE);
  assert.ok(lines.length === 4 && lines.every((line) => line.includes("\x1b[1m")), JSON.stringify(lines));
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
    const began = cpuMs();
    assert.ok(markdown.lines(80).length > 0, name);
    assert.ok(cpuMs() - began < 1_500, name);
  }
});

Deno.test("long code, tables and lists are Markdown all the same", () => {
  const code = `\`\`\`ts\nconst x = a[0] * b_c * d_e;\n${"const y = a[1] * 2;\n".repeat(2_000)}\`\`\`\n`;
  const list = Array.from({ length: 800 }, (_, n) => `- item **${n}** with \`code\``).join("\n");
  for (const line of drawn([code]).slice(1, 4)) assert.ok(line.startsWith("  const"));
  assert.match(drawn([list])[700] ?? "", /^- item 700 with code$/);
});

Deno.test("a draft draws a long list as the whole text does, and each item of it once", () => {
  const items = Array.from({ length: 400 }, (_, at) => `- item ${at} with **weight**\n  and a second line\n`);
  const looked: string[] = [];
  const look = (line: string): string => (looked.push(line), line);
  const draft = new MarkdownText(theme, { whole: false, look });
  for (const item of items) {
    draft.append(item);
    draft.lines(60);
  }
  const whole = new MarkdownText(theme);
  whole.append(items.join(""));
  assert.deepEqual(draft.lines(60), whole.lines(60));
  assert.ok(looked.length < 60_000, `${looked.length} lines were drawn for 800`);
});
