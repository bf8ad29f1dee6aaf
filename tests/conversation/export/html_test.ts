import assert from "node:assert/strict";
import { answerHtml, codeHtml, exportHtml } from "../../../src/conversation/export/html.ts";
import { hostileRecording, recordedIteration, recordedQuery, recording } from "../_recordings.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { exportedText } from "../../helpers/archive_of.ts";

function markup(page: string): { readonly tags: Set<string>; readonly attributes: Set<string> } {
  const tags = new Set<string>(), attributes = new Set<string>();
  for (const [, tag = "", rest = ""] of page.matchAll(/<([a-z!][a-z0-9]*)((?:\s[^>]*)?)>/gi)) {
    tags.add(tag.toLowerCase());
    for (const [, name = ""] of rest.matchAll(/\s([a-z-]+)(?:="[^"]*")?/g)) attributes.add(name);
  }
  return { tags, attributes };
}

Deno.test("exportHtml() shows requests, thinking, code, results, children and answers in one page", async () => {
  const child = recordedQuery({ text: "the child" });
  const iterations = [
    recordedIteration({ calls: [{ prompt: "asked", reply: "told", error: null }], children: [child] }),
  ];
  const page = await exportedText(exportHtml, recording([recordedQuery({ iterations })]), {
    branches: ["└ one", "  └ two"],
  });
  for (
    const part of [
      "<title>A title</title>",
      ">Thinking</span>",
      "look first",
      '<span class="number">1</span> + <span class="number">1</span>',
      "✓ value",
      ">2</pre>",
      "told",
      "the child",
      "<strong>2</strong> of them",
      "<span>1 request</span><span>1 step</span><span>1 block</span>",
      "answered (high confidence)",
      "$0.5000",
      "└ two",
      "prefers-color-scheme: dark",
    ]
  ) assert.ok(page.includes(part), part);
});

Deno.test("exportHtml() has no markup but its own, whatever is stored, and loads nothing", async () => {
  const plain = markup(await exportedText(exportHtml, recording([recordedQuery(), recordedQuery()])));
  const page = await exportedText(exportHtml, hostileRecording(), { branches: ["<b>"] });
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
  const answers = ["h4", "ul", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "strong"];
  const also = [
    ...answers,
    ...["b", "i", "mark"],
    "pre",
    "nav",
    "ol",
    "li",
    "a",
    "main",
    "section",
    "h2",
    "h3",
    "small",
    "div",
    "code",
    "span",
  ];
  assert.deepEqual([...found.tags].filter((tag) => ![...known, ...also].includes(tag)), []);
  assert.deepEqual([...found.attributes].filter((name) => ![...plain.attributes, "open"].includes(name)), []);
  assert.ok(!/(?:src|href)="(?!#)/.test(page));
  assert.match(page, /default-src 'none'; style-src 'unsafe-inline'; img-src data:/);
  // deno-lint-ignore no-control-regex
  assert.ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(page) && page.isWellFormed());
  assert.equal(page.match(/<section/g)?.length, 2);
});

Deno.test("exportHtml() embeds images by their bytes, and cuts endless ones", async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
  const images = [{ kind: "bytes", mediaType: "text/html", bytes: png }] as const;
  const page = await exportedText(exportHtml, recording([recordedQuery({ images, answer: "x".repeat(9_000_000) })]));
  assert.match(page, /<img alt="Image of the request" src="data:image\/png;base64,iVBORw0KGgoB">/);
  assert.ok(page.length < 200_000);
});

const marked = (text: string): string => text.replace(/[&<>"']/g, "¤");

Deno.test("exportHtml() opens iterations that did something, and folds an iteration that only answers", async () => {
  const last = recordedIteration({ number: 2, outcome: "final", blocks: [] });
  const page = await exportedText(exportHtml, recording([recordedQuery({ iterations: [recordedIteration(), last] })]));
  assert.match(page, /<details class="iteration" open><summary>Step 1/);
  assert.match(page, /<details class="iteration"><summary>Step 2/);
});

Deno.test("codeHtml() names comments, strings, keywords and numbers, and gives the code back unchanged", () => {
  const html = codeHtml("const a = 'x' // y\nlet b = `1\n2` + 3", marked);
  assert.equal(
    html,
    '<span class="keyword">const</span> a = <span class="string">¤x¤</span> <span class="comment">// y</span>\n' +
      '<span class="keyword">let</span> b = <span class="string">`1\n2`</span> + <span class="number">3</span>',
  );
  for (const open of ["/*", "`", '"\\', "'", "/* `", "a".repeat(9)]) {
    const code = `${open} constant `.repeat(20_000);
    const start = cpuMs();
    assert.equal(codeHtml(code, (text) => text).replace(/<\/?span[^>]*>/g, ""), code);
    assert.ok(cpuMs() - start < 2000, open);
  }
});

Deno.test("answerHtml() shows all elements of Markdown, and escapes all text", () => {
  const shown = (text: string) => answerHtml(text, marked);
  for (
    const [markdown, html] of [
      ["# A <b>\ntext\nmore\\\nend", "<h4>A ¤b¤</h4>\n<p>text\nmore<br>end</p>"],
      [
        "2. **one *in***\n   - `two`",
        "<ol start=¤2¤><li><strong>one <em>in</em></strong>\n<ul><li><code>two</code></li></ul></li></ol>"
          .replaceAll("¤", '"'),
      ],
      ["- a\n\n- [x] b", '<ul><li><p>a</p></li><li class="task"><p>☑ b</p></li></ul>'],
      [
        "| a | b |\n|---|:-:|\n| <1> | 2 |",
        '<table><thead><tr><th>a</th><th class="center">b</th></tr></thead>' +
        '<tbody><tr><td>¤1¤</td><td class="center">2</td></tr></tbody></table>',
      ],
      ["> <i>\n> b\n> > c", "<blockquote><p>¤i¤\nb</p>\n<blockquote><p>c</p></blockquote></blockquote>"],
      ["```text\n<i>\n```\nend", '<pre class="code"><code dir="ltr">¤i¤</code></pre>\n<p>end</p>'],
      [
        "```diff\n-a\n+b\n```",
        '<pre class="code"><code dir="ltr"><span class="removed">-a\n</span><span class="added">+b</span></code></pre>',
      ],
      ["```\nnever closed", '<pre class="code"><code dir="ltr">never closed</code></pre>'],
      [
        "~~x~~ https://e.org",
        '<p><del>x</del> <a href="https://e.org" rel="noopener noreferrer">https://e.org</a></p>',
      ],
      [
        '[x](javascript:alert(1)) ![y"](https://z "<")',
        '<p>x (javascript:alert(1)) <a href="https://z" title="¤" rel="noopener noreferrer">y¤</a></p>',
      ],
    ] as const
  ) assert.equal(shown(markdown), html, markdown);
  for (const odd of ["|", "|\n|-", "- ", "#", "**", "`".repeat(7), "> ", "1.", "\r\n\t|x", "***"]) {
    const text = `${odd}\n`.repeat(5000);
    const start = cpuMs();
    shown(text);
    assert.ok(cpuMs() - start < 2000, odd);
  }
});

Deno.test("exportHtml() shows changes of files with counts, numbers and marked words, and folds long ones", async () => {
  const short = "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -9 +9 @@\n-rate = 0.9\n+rate = 0.8\n@@ -20,0 +21 @@\n+<end>\n";
  const long = `--- /dev/null\n+++ b/n\n@@ -0,0 +1,50 @@\n${"+x\n".repeat(50)}`;
  const [block] = recordedIteration().blocks;
  const iterations = [recordedIteration({ blocks: [{ ...block!, diffs: [short, long] }] })];
  const page = await exportedText(exportHtml, recording([recordedQuery({ iterations })]));
  for (
    const part of [
      '<b>src/a.ts</b> <span class="added">+2</span> <span class="removed">−1</span>',
      '<div class="removed"><i>9</i><i>−</i><code>rate = 0.<mark>9</mark></code></div>',
      '<div class="added"><i>21</i><i>+</i><code>&lt;end&gt;</code></div>',
      "<b>n (new)</b>",
      "<summary>10 more lines</summary>",
    ]
  ) assert.ok(page.includes(part), part);
  assert.doesNotMatch(page, /@@ -|\+\+\+ b/);
});
