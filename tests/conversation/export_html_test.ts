import assert from "node:assert/strict";
import { exportHtml } from "../../src/conversation/export_html.ts";
import { hostileRecording, recordedIteration, recordedQuery, recording } from "./_recordings.ts";

/** Names of the elements and of their attributes. */
function markup(page: string): { readonly tags: Set<string>; readonly attributes: Set<string> } {
  const tags = new Set<string>(), attributes = new Set<string>();
  for (const [, tag = "", rest = ""] of page.matchAll(/<([a-z!][a-z0-9]*)((?:\s[^>]*)?)>/gi)) {
    tags.add(tag.toLowerCase());
    for (const [, name = ""] of rest.matchAll(/\s([a-z-]+)(?:="[^"]*")?/g)) attributes.add(name);
  }
  return { tags, attributes };
}

Deno.test("exportHtml() shows requests, thinking, code, results, children and answers in one page", () => {
  const child = recordedQuery({ text: "the child" });
  const iterations = [
    recordedIteration({ calls: [{ prompt: "asked", reply: "told", error: null }], children: [child] }),
  ];
  const page = exportHtml(recording([recordedQuery({ iterations })]), { branches: ["└ one", "  └ two"] });
  for (
    const part of [
      "<title>A title</title>",
      "<summary>Thinking</summary>",
      "look first",
      "1 + 1",
      "✓ value",
      ">2</pre>",
      "told",
      "the child",
      "**2** of them",
      "answered (high confidence)",
      "$0.5000",
      "└ two",
      "prefers-color-scheme: dark",
    ]
  ) assert.ok(page.includes(part), part);
});

Deno.test("exportHtml() has no markup but its own, whatever is stored, and loads nothing", () => {
  const plain = markup(exportHtml(recording([recordedQuery(), recordedQuery()])));
  const page = exportHtml(hostileRecording(), { branches: ["<b>"] });
  const found = markup(page);
  const known = [
    "!doctype",
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "header",
    "h1",
    "p",
    "details",
    "summary",
  ];
  const also = ["pre", "nav", "ol", "li", "a", "main", "section", "h2", "h3", "small", "div", "code", "span"];
  assert.deepEqual([...found.tags].filter((tag) => ![...known, ...also].includes(tag)), []);
  assert.deepEqual([...found.attributes].filter((name) => ![...plain.attributes, "open"].includes(name)), []);
  assert.ok(!/(?:src|href)="(?!#)/.test(page));
  assert.match(page, /default-src 'none'; style-src 'unsafe-inline'; img-src data:/);
  // deno-lint-ignore no-control-regex
  assert.ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(page) && page.isWellFormed());
  assert.equal(page.match(/<section/g)?.length, 2);
});

Deno.test("exportHtml() puts images into the page by what their bytes say, and cuts what is endless", () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
  const images = [{ kind: "bytes", mediaType: "text/html", bytes: png }] as const;
  const page = exportHtml(recording([recordedQuery({ images, answer: "x".repeat(9_000_000) })]));
  assert.match(page, /<img alt="Image of the request" src="data:image\/png;base64,iVBORw0KGgoB">/);
  assert.ok(page.length < 200_000);
});
