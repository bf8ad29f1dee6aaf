import assert from "node:assert/strict";
import fc from "fast-check";
import { parseMarkdown } from "../../src/markdown/parse_markdown.ts";
import type { MarkdownBlock, MarkdownInline } from "../../src/markdown/tree.ts";
import { cpuMs } from "../helpers/cpu_ms.ts";
import { runs } from "../helpers/long_part.ts";

const parse = (text: string) => parseMarkdown(text, { clean: (one) => one });
const text = (value: string): MarkdownInline => ({ kind: "text", text: value });
const paragraph = (...inlines: MarkdownInline[]): MarkdownBlock => ({ kind: "paragraph", inlines });
const link = (href: string, label: string): MarkdownInline => ({
  kind: "link",
  href,
  title: "",
  inlines: [text(label)],
});

function measured(value: unknown, depth = 0): { readonly text: string; readonly depth: number } {
  if (typeof value !== "object" || value === null) return { text: "", depth };
  const own = Object.entries(value).filter(([name, one]) => ["text", "alt"].includes(name) && typeof one === "string");
  const inner = Object.values(value).map((one) => measured(one, depth + 1));
  return {
    text: [...own.map(([, one]) => one), ...inner.map((one) => one.text)].join(""),
    depth: Math.max(depth, ...inner.map((one) => one.depth)),
  };
}

Deno.test("parseMarkdown() nests emphasis, lists and quotes", () => {
  assert.deepEqual(parse("**b *n*** ~~s~~"), [
    paragraph(
      { kind: "strong", inlines: [text("b "), { kind: "emphasis", inlines: [text("n")] }] },
      text(" "),
      { kind: "strikethrough", inlines: [text("s")] },
    ),
  ]);
  assert.deepEqual(parse("3. a\n   - b\n\n> c\\\n> d"), [
    {
      kind: "list",
      start: 3,
      loose: false,
      items: [{
        done: null,
        blocks: [
          paragraph(text("a")),
          { kind: "list", start: null, loose: false, items: [{ done: null, blocks: [paragraph(text("b"))] }] },
        ],
      }],
    },
    { kind: "quote", blocks: [paragraph(text("c"), { kind: "break" }, text("d"))] },
  ]);
});

Deno.test("parseMarkdown() recognises loose lists, tasks and the alignment of columns", () => {
  const [tight, loose] = ["- a\n- b", "- a\n\n- b"].map((one) => parse(one)[0]);
  assert.ok(tight?.kind === "list" && !tight.loose && loose?.kind === "list" && loose.loose);
  const [tasks] = parse("- [ ] a\n- [x] **b**\n- [ ]\n- [y] c");
  assert.ok(tasks?.kind === "list");
  assert.deepEqual(tasks.items.map(({ done }) => done), [false, true, null, null]);
  assert.deepEqual(tasks.items[0]?.blocks, [paragraph(text("a"))]);
  const [table] = parse("|a|b|c|\n|:-|:-:|-:|\n|1|");
  assert.ok(table?.kind === "table");
  assert.deepEqual(table.sides, ["left", "center", "right"]);
  assert.deepEqual([table.head, table.rows], [[[text("a")], [text("b")], [text("c")]], [[[text("1")], [], []]]]);
});

Deno.test("parseMarkdown() makes links of web and mail addresses only, and shows where others lead", () => {
  for (
    const [markdown, ...inlines] of [
      ["https://e.org/a?b.", link("https://e.org/a?b", "https://e.org/a?b"), text(".")],
      ["www.e.org", link("http://www.e.org", "www.e.org")],
      ["a@e.org", link("mailto:a@e.org", "a@e.org")],
      ["see main.ts", text("see main.ts")],
      ["[x](javascript:alert(1))", text("x (javascript:alert(1))")],
      ["[doc](src/a.ts) [a.ts](a.ts)", text("doc (src/a.ts) a.ts")],
      ["<data:text/html,x>", text("data:text/html,x")],
      ["[](https://e.org)", link("https://e.org", "https://e.org")],
      ["[https://good.org](https://bad.org/x)", link("https://bad.org/x", "https://good.org (bad.org)")],
      ["<b onclick=x>&amp;</b>", text("<b onclick=x>&</b>")],
    ] as const
  ) assert.deepEqual(parse(markdown), [paragraph(...inlines)], markdown);
  assert.deepEqual(parse("![*a* b](https://e.org/p.png 't')"), [
    paragraph({ kind: "image", src: "https://e.org/p.png", title: "t", alt: "a b" }),
  ]);
  assert.deepEqual(parse("![a](file:///p.png)"), [paragraph(text("a (file:///p.png)"))]);
});

Deno.test("parseMarkdown() cleans every text after entities are decoded", () => {
  const source =
    "&#x202e; `\u202e` ![\u202e](https://e.org '\u202e') [&#x202e;](b\u202e)\n\n```\u202e\n\u202e\n```\n\n" +
    "|\u202e|\n|-|\n|&#x202e;|\n\n# \u202e\n\n" + "> ".repeat(60) + "\u202e";
  const tree = JSON.stringify(parseMarkdown(source, { clean: (one) => one.replaceAll("\u202e", "¤") }));
  assert.ok(!tree.includes("\u202e") && tree.includes("¤"));
});

Deno.test("parseMarkdown() bounds depth and omits no text", () => {
  for (const mark of ["> ", "- ", "1. ", "> - "]) {
    for (const source of [`${mark.repeat(20_000)}deep`, `${mark.repeat(60)}deep\nlazy\n\nafter`]) {
      const { text, depth } = measured(parse(source));
      assert.ok(text.includes("deep") && depth < 300, `${mark} ${depth}`);
      if (source.includes("after")) assert.match(text, /lazy[^]*after/);
    }
  }
  const stars = `${"*_".repeat(500)}deep${"_*".repeat(500)}`;
  assert.ok(measured(parse(stars)).depth < 150);
  assert.ok(measured(parse(stars)).text.includes("deep"));
  const long = `${"a ".repeat(150_000)}end`;
  assert.ok(measured(parse(long)).text.endsWith("end"));
});

Deno.test("parseMarkdown() keeps the words of any text", () => {
  // Markdown drops surplus cells of tables, targets of references and words of fences, so the texts have none of these.
  const piece = fc.constantFrom(
    ..."* ** _ __ ~~ ` `` # > - 1. [ ] ( ) ![ < > \\ & &amp; w. x y z https://e.org".split(" "),
    ...[" ", "    ", "\n", "\n\n"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const source = pieces.join("");
      fc.pre(!/`{3}|~{3}/.test(source));
      const letters = (one: string) => one.replace(/https:\/\/e\.org|[^xyz]/g, "").length;
      assert.ok(letters(measured(parse(source)).text) >= letters(source), source);
    }),
    { numRuns: runs(125, 500), maxSkipsPerRun: 1_000 },
  );
});

Deno.test("parseMarkdown() takes time in proportion to a hostile text", () => {
  const n = runs(10_000, 100_000);
  const pieces =
    "> |*|*a |_a_b |**a *b |[|[a](|![|[a]|<|<a|<!--|`|a`b``c|- |~|~a |~~a~ |http://a|www.|www.a |a@|a.b-|&|\\|# |a\n|-\n|* * |> - |> a\nb\n|[](|[a](<b|- [ ] a\n|x*x* |\r|\0|\t|1. a\n\n|[a]: <b\n"
      .split("|");
  const texts = [
    ...pieces.map((piece) => piece.repeat(n / piece.length)),
    ...["*", "[", "`", ">"].map((mark) => `${mark.repeat(n / 2)}a${mark === "[" ? "]".repeat(n / 2) : ""}`),
    `|${"a|".repeat(2_000)}\n|${"-|".repeat(2_000)}\n${"a\n".repeat(n / 4)}`,
    `[a]: ${"x".repeat(n / 2)}\n\n${"[a]".repeat(n / 8)}`,
    Array.from({ length: 440 }, (_, depth) => `${" ".repeat(depth)}- a`).join("\n"),
    Array.from({ length: 440 }, (_, ticks) => "`".repeat(ticks)).join(" a "),
  ];
  for (const source of texts) {
    const began = cpuMs();
    parse(source);
    assert.ok(cpuMs() - began < n * 0.03, `${source.slice(0, 20)}: ${cpuMs() - began} ms`);
  }
});
