import assert from "node:assert/strict";
import fc from "fast-check";
import { renderMarkdown, RichText, splitRichText } from "../../../src/channels/telegram/rich_text.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { fits } from "./_fits.ts";
import { anyText } from "../../helpers/any_text.ts";
import { runs } from "../../helpers/long_part.ts";

/** Returns the text with its styles as marks: `<bold>x</bold>`. */
function marked(markdown: string): string {
  return renderMarkdown(markdown).runs.map(({ text, spans }) =>
    spans.reduceRight((inner, span) => {
      const more = span.type === "text_link"
        ? `=${span.url}`
        : span.type === "pre" && span.language
        ? `=${span.language}`
        : "";
      return `<${span.type}${more}>${inner}</${span.type}>`;
    }, text)
  ).join("");
}

Deno.test("renderMarkdown() shows emphasis, code and links as styles", () => {
  for (
    const [markdown, expected] of [
      ["a **b** c", "a <bold>b</bold> c"],
      [
        "__b__ and *i* and _j_ and ~~s~~",
        "<bold>b</bold> and <italic>i</italic> and <italic>j</italic> and <strikethrough>s</strikethrough>",
      ],
      ["**a *b***", "<bold>a </bold><bold><italic>b</italic></bold>"],
      ["*a **b** c*", "<italic>a </italic><italic><bold>b</bold></italic><italic> c</italic>"],
      ["`a*b*c`", "<code>a*b*c</code>"],
      ["``a`b``", "<code>a`b</code>"],
      ["[x](https://e.org/a_(b))", "<text_link=https://e.org/a_(b)>x</text_link>"],
      ["![pic](https://e.org/p.png)", "<text_link=https://e.org/p.png>pic</text_link>"],
      ["<https://e.org>", "<text_link=https://e.org>https://e.org</text_link>"],
      ["# Title #", "<bold>Title</bold>"],
      ["- a\n  - [x] b\n1. c", "• a\n  ☑ b\n1. c"],
      ["> q\n> r", "<blockquote>q\nr</blockquote>"],
      ["```ts\nconst a = **1**;\n```\nx", "<pre=ts>const a = **1**;</pre>\nx"],
      ["```\nopen to the end", "<pre>open to the end</pre>"],
      ["---", "———"],
      ["a\n\n- b\n\n- c\n  - d\n\ne", "a\n\n• b\n\n• c\n\n  • d\n\ne"],
      [
        "> a\n> > b\n> > c",
        "<blockquote>a</blockquote><blockquote>\n</blockquote><blockquote>> </blockquote>" +
        "<blockquote>b\n> c</blockquote>",
      ],
      ["10. a\n    ```\n    b\n    c\n    ```\n    d", "10. a\n<pre>b\nc</pre>\n    d"],
      ["|a|bb|\n|-:|:-:|\n|100|c|", "<pre>  a  bb\n───  ──\n100  c</pre>"],
      ["Title\n===\na\\\nb", "<bold>Title</bold>\n\na\nb"],
      ["    indented\n    code", "<pre>indented\ncode</pre>"],
      ["see www.e.org", "see <text_link=http://www.e.org>www.e.org</text_link>"],
      ["| a | b |\n|---|:-:|\n| 1 | **22** |", "<pre>a  b\n─  ──\n1  22</pre>"],
    ] as const
  ) assert.equal(marked(markdown), expected, markdown);
});

Deno.test("renderMarkdown() keeps text that only resembles a mark", () => {
  for (
    const text of [
      "2 * 3 * 4",
      "snake_case_name",
      "a ** b",
      "`",
      "**",
      "[x]",
      "[x](",
      "C:\\dir",
      "1 < 2",
      "f(a)[0](b c)",
      "~~",
      "_ _",
    ]
  ) {
    assert.equal(marked(text), text, text);
  }
  assert.equal(marked("\\*not\\*"), "*not*");
});

Deno.test("renderMarkdown() opens no address that runs code", () => {
  assert.equal(marked("[x](javascript:alert(1))"), "x (javascript:alert(1))");
  assert.equal(marked("[x](data:text/html,y)"), "x (data:text/html,y)");
  assert.equal(marked("[doc](src/a.ts)"), "doc (src/a.ts)");
});

Deno.test("renderMarkdown() shows control characters and marks that turn text around", () => {
  assert.equal(marked("a\u202eb\x1b[31m"), "a\\u202eb\\u001b[31m");
});

Deno.test("renderMarkdown() takes time in proportion to a hostile text", () => {
  const n = runs(5_000, 30_000);
  const began = cpuMs();
  for (const piece of ["**", "*a", "_a ", "[", "`", "~~a", "[a](", "<", "> ", "| a |\n", "**a *b", "\\", "![", "- "]) {
    renderMarkdown(piece.repeat(n));
    renderMarkdown(`${piece.repeat(900)}\n`.repeat(n / 1_500));
  }
  assert.ok(cpuMs() - began < n * 0.2);
});

const pieces = fc.constantFrom(
  ..."*,**,_,__,~~,`,```,\n,\n\n,# ,> ,- ,1. ,| a | b |\n|--|--|\n,[x](https://e.org),![](,<https://e.org>,\\,😀,é,a,word ,👩‍👩‍👧,\ud83d,\udc00,\u202e,    "
    .split(","),
  ",",
);
const markdowns = fc.oneof(
  fc.array(pieces, { maxLength: 200 }).map((list) => list.join("")),
  anyText({ maxLength: 300 }),
);

Deno.test("renderMarkdown() returns text that Telegram accepts, for any input", () => {
  fc.assert(fc.property(markdowns, (markdown) => fits(renderMarkdown(markdown).message(), Infinity)), {
    numRuns: runs(100, 400),
  });
});

Deno.test("splitRichText() gives parts within the limit, and nothing but blanks is lost", () => {
  const bare = (text: string): string => text.replace(/\s/g, "");
  fc.assert(
    fc.property(markdowns, fc.integer({ min: 2, max: 60 }), (markdown, limit) => {
      const whole = renderMarkdown(markdown);
      const parts = splitRichText(whole, limit).map((part) => part.message());
      for (const part of parts) fits(part, limit);
      assert.equal(bare(parts.map(({ text }) => text).join("")), bare(whole.message().text));
    }),
    { numRuns: runs(100, 400) },
  );
});

Deno.test("splitRichText() continues a block of code in the next part, cut between its lines", () => {
  const code = Array.from({ length: 400 }, (_, n) => `const value${n} = ${n};`).join("\n");
  const parts = splitRichText(renderMarkdown(`Before\n\`\`\`ts\n${code}\n\`\`\`\nAfter`), 4096).map((part) =>
    part.message()
  );
  assert.ok(parts.length > 1);
  for (const { text, entities } of parts) {
    const [pre] = entities;
    assert.ok(pre?.type === "pre" && pre.language === "ts");
    const inside = text.slice(pre.offset, pre.offset + pre.length).trim();
    assert.ok(inside.split("\n").every((line) => /^const value\d+ = \d+;$/.test(line)), inside);
  }
});

Deno.test("splitRichText() keeps a block of code whole if it fits into a part", () => {
  const prose = (chars: number) => "word ".repeat(chars / 5).trim();
  const code = (lines: number) =>
    Array.from({ length: lines }, (_, n) => n % 5 === 4 ? "" : `const a${n} = 1;`).join("\n");
  for (const [before, lines] of [[3_000, 200], [1_200, 240], [600, 300]] as const) {
    const block = code(lines);
    assert.ok(block.length < 4096 && before + block.length > 4096);
    const markdown = `${prose(before)}\n\nSee:\n\`\`\`ts\n${block}\n\`\`\`\n\n${prose(2_000)}`;
    const parts = splitRichText(renderMarkdown(markdown), 4096).map((part) => part.message());
    for (const part of parts) fits(part, 4096);
    const pres = parts.flatMap(({ text, entities }) =>
      entities.filter(({ type }) => type === "pre").map(({ offset, length }) => text.slice(offset, offset + length))
    );
    assert.deepEqual(pres.map((text) => text.trim()), [block.trim()], `${before} ${lines}`);
    assert.ok(parts.length <= 3, `${parts.length}`);
  }
});

Deno.test("splitRichText() fills a part with a block that no part has room for, cut between its paragraphs", () => {
  const block = Array.from({ length: 500 }, (_, n) => n % 10 === 9 ? "" : `const a${n} = 1;`).join("\n");
  const parts = splitRichText(renderMarkdown(`Short\n\`\`\`ts\n${block}\n\`\`\``), 4096).map((part) => part.message());
  assert.ok((parts[0]?.text.length ?? 0) > 3_500);
  assert.match(parts[0]?.text ?? "", /const a\d*8 = 1;$/);
});

Deno.test("splitRichText() cuts at a paragraph, then a line, then a word", () => {
  const of = (text: string) => splitRichText(new RichText().add(text), 20).map((part) => part.message().text);
  assert.deepEqual(of("0123456789 12\n\n345678 90"), ["0123456789 12", "345678 90"]);
  assert.deepEqual(of("0123456789\n12345678 90"), ["0123456789", "12345678 90"]);
  assert.deepEqual(of("0123456789 123456 789"), ["0123456789 123456", "789"]);
  assert.deepEqual(of("😀".repeat(12)).map((part) => part.length), [20, 4]);
  assert.deepEqual(of(`x${"😀".repeat(12)}`).map((part) => part.length), [19, 6]);
});
