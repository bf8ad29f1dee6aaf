import assert from "node:assert/strict";
import { tests as examples } from "commonmark-spec";
import { renderMarkdown } from "../../src/channels/telegram/rich_text.ts";
import { answerHtml } from "../../src/conversation/export/html.ts";
import { parseMarkdown } from "../../src/markdown/parse_markdown.ts";
import { markdownLines } from "../../src/markdown/terminal/markdown_lines.ts";
import { canonical, linksLimited, type Node, nodesOf, type Styled, styledCharacters, styledOf } from "./_styled.ts";

interface Example {
  readonly name: string;
  readonly markdown: string;
  readonly html: string;
}

interface SpecExample {
  readonly number: number;
  readonly markdown: string;
  readonly html: string;
}

const COMMONMARK: readonly Example[] = (examples as readonly SpecExample[]).map(({ number, markdown, html }) => ({
  name: String(number),
  markdown: markdown.replaceAll("→", "\t"),
  html: html.replaceAll("→", "\t"),
}));

const cell = (tag: string, ...cells: readonly string[]): string =>
  `<tr>${cells.map((one) => `<${tag}>${one}</${tag}>`).join("")}</tr>`;
const table = (head: readonly string[], ...rows: readonly (readonly string[])[]): string =>
  `<table><thead>${cell("th", ...head)}</thead>` +
  (rows.length === 0 ? "" : `<tbody>${rows.map((row) => cell("td", ...row)).join("")}</tbody>`) + "</table>";
const address = (href: string, label = href): string => `<a href="${href}">${label}</a>`;

const GITHUB: readonly Example[] = ([
  ["table", "| foo | bar |\n| --- | --- |\n| baz | bim |", table(["foo", "bar"], ["baz", "bim"])],
  ["sides", "| abc | defghi |\n:-: | -----------:\nbar | baz", table(["abc", "defghi"], ["bar", "baz"])],
  [
    "pipes",
    "| f\\|oo |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |",
    table(["f|oo"], ["b <code>|</code> az"], ["b <strong>|</strong> im"]),
  ],
  [
    "quote ends a table",
    "| abc | def |\n| --- | --- |\n| bar | baz |\n> bar",
    `${table(["abc", "def"], ["bar", "baz"])}<blockquote><p>bar</p></blockquote>`,
  ],
  ["not as wide", "| abc | def |\n| --- |\n| bar |", "<p>| abc | def | | --- | | bar |</p>"],
  [
    "surplus cells",
    "| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |",
    table(["abc", "def"], ["bar", ""], ["bar", "baz"]),
  ],
  ["head only", "| abc | def |\n| --- | --- |", table(["abc", "def"])],
  [
    "strikethrough",
    "~~Hi~~ Hello, ~~**there** world~~!",
    "<p><del>Hi</del> Hello, <del><strong>there</strong> world</del>!</p>",
  ],
  [
    "strikethrough ends with its paragraph",
    "This ~~has a\n\nnew paragraph~~.",
    "<p>This ~~has a</p><p>new paragraph~~.</p>",
  ],
  [
    "www",
    "Visit www.commonmark.org/help for more.",
    `<p>Visit ${address("http://www.commonmark.org/help", "www.commonmark.org/help")} for more.</p>`,
  ],
  [
    "www and a full stop",
    "Visit www.commonmark.org.\n\nVisit www.commonmark.org/a.b.",
    `<p>Visit ${address("http://www.commonmark.org", "www.commonmark.org")}.</p><p>Visit ${
      address("http://www.commonmark.org/a.b", "www.commonmark.org/a.b")
    }.</p>`,
  ],
  [
    "brackets",
    "(www.google.com/search?q=Markup+(business))",
    `<p>(${
      address("http://www.google.com/search?q=Markup+(business)", "www.google.com/search?q=Markup+(business)")
    })</p>`,
  ],
  [
    "schemes",
    "http://commonmark.org (https://e.org/?q=a_b) https://e.org/a,",
    `<p>${address("http://commonmark.org")} (${address("https://e.org/?q=a_b")}) ${address("https://e.org/a")},</p>`,
  ],
  [
    "mail",
    "foo@bar.baz and hello@mail.org.",
    `<p>${address("mailto:foo@bar.baz", "foo@bar.baz")} and ${address("mailto:hello@mail.org", "hello@mail.org")}.</p>`,
  ],
  [
    "in code and links",
    "`https://e.org` [https://e.org](https://e.org)",
    `<p><code>https://e.org</code> ${address("https://e.org")}</p>`,
  ],
  ["file names", "main.ts e.org a.b.c", "<p>main.ts e.org a.b.c</p>"],
] as const).map(([name, markdown, html]) => ({ name, markdown, html }));

const from = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

const HTML_IS_TEXT = [
  ...[21, 31, ...from(148, 167), ...from(169, 191), 201, 308, 309, 344, 475, 476, 477, 491, 494, 524, 536],
  ...[...from(613, 617), 623, ...from(625, 631), 642, 643],
];
const HTML_WITHOUT_TEXT = [168];
const BARE_ADDRESSES_ARE_LINKS = [602, 608, 611, 612];
const TARGETS_WITHIN_LABELS_OF_IMAGES = [520, 574, 575];
const EMPTY_LINKS_MAKE_NO_PARAGRAPH = [487];
const INNER_QUOTES_ARE_MARKED = [250, 251, 259, 260, 292, 293];
const EVERYWHERE = [...HTML_IS_TEXT, ...BARE_ADDRESSES_ARE_LINKS, ...TARGETS_WITHIN_LABELS_OF_IMAGES];

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char] ?? "&#39;");

function differing(holds: (example: Example) => boolean, all = COMMONMARK): readonly string[] {
  return all.filter((example) => !holds(example)).map(({ name }) => name);
}

/** Headings begin at the fourth level, below the page's own. */
function lowered(html: string): string {
  return html.replace(/(<\/?h)(\d)/g, (_, tag, level) => `${tag}${Math.min(6, Number(level) + 3)}`);
}

function sameHtml({ markdown, html }: Example): boolean {
  return canonical(nodesOf(answerHtml(markdown, escaped))) ===
    canonical(linksLimited(nodesOf(lowered(html).replaceAll("\n</code></pre>", "</code></pre>"))));
}

function expected(html: string): readonly Node[] {
  return linksLimited(nodesOf(html));
}

const TELEGRAM: Readonly<Record<string, string>> = { blockquote: "quote", code: "code" };

function telegramOf(markdown: string): Styled {
  return renderMarkdown(markdown).runs.flatMap(({ text, spans }) =>
    styledCharacters(
      text.replaceAll("─", ""),
      spans.map((span) => span.type === "text_link" ? `link:${span.url}` : TELEGRAM[span.type] ?? span.type),
    )
  );
}

function sameTelegram({ markdown, html }: Example): boolean {
  const styled = styledOf(expected(html), {
    item: ({ start, at }) => start === null ? "•" : `${start + at}.`,
    heading: () => "",
    rule: "———",
    shown: (styles) => {
      const code = styles.includes("pre") || styles.includes("table") ? "pre" : styles.includes("code") ? "code" : null;
      return code === null ? styles : [code, ...styles.filter((style) => style === "quote")];
    },
  });
  return JSON.stringify(telegramOf(markdown)) === JSON.stringify(styled);
}

const mark = (name: string) => (text: string): string => `\u0002${name}\u0003${text}\u0002\u0003`;
const same = (text: string): string => text;
const span = { comment: same, string: same, number: same, value: same, keyword: same, call: same };

function terminalOf(markdown: string): Styled {
  const paint = {
    ...{ heading: mark("bold"), strong: mark("bold"), emphasis: mark("italic"), strikethrough: mark("strikethrough") },
    ...{ code: mark("code"), link: same, mark: () => "" },
    spans: { ...span, added: same, removed: same, place: same, file: same, plain: same },
    changed: { added: same, removed: same },
    open: (text: string, href: string) => mark(`link:${href}`)(text),
  };
  const open: string[] = [];
  const lines = markdownLines(parseMarkdown(markdown, { clean: same }), { width: 10_000, paint });
  // deno-lint-ignore no-control-regex
  return lines.join("\n").split(/(\x02[^\x03]*\x03)/).flatMap((part) => {
    if (!part.startsWith("\u0002")) return styledCharacters(part, open);
    if (part === "\u0002\u0003") open.pop();
    else open.push(part.slice(1, -1));
    return [];
  });
}

function sameTerminal({ markdown, html }: Example): boolean {
  const styled = styledOf(expected(html), {
    item: () => "",
    heading: () => "",
    rule: "",
    shown: (styles) => styles.filter((style) => !["pre", "table", "quote"].includes(style)),
  });
  return JSON.stringify(terminalOf(markdown)) === JSON.stringify(styled);
}

function known(...reasons: readonly (readonly number[])[]): readonly string[] {
  return reasons.flat().sort((a, b) => a - b).map(String);
}

Deno.test("the export shows the examples of CommonMark as CommonMark does, but for known differences", () => {
  assert.deepEqual(differing(sameHtml), known(EVERYWHERE, EMPTY_LINKS_MAKE_NO_PARAGRAPH));
  assert.deepEqual(differing(sameHtml, GITHUB), []);
  for (const number of HTML_IS_TEXT) assert.ok(COMMONMARK[number - 1]?.markdown.includes("<"), String(number));
});

Deno.test("Telegram shows the examples with all styles that it has", () => {
  assert.deepEqual(differing(sameTelegram), known(EVERYWHERE, HTML_WITHOUT_TEXT, INNER_QUOTES_ARE_MARKED));
  assert.deepEqual(differing(sameTelegram, GITHUB), []);
});

Deno.test("a terminal shows the examples with all styles that it has", () => {
  assert.deepEqual(differing(sameTerminal), known(EVERYWHERE, HTML_WITHOUT_TEXT));
  assert.deepEqual(differing(sameTerminal, GITHUB), []);
});
