import assert from "node:assert/strict";
import { pageMarkdown } from "../../../extensions/web/page_markdown.ts";
import { readablePage } from "../../../extensions/web/web_call.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import { PUBLIC, reply, site, view, world } from "./_site.ts";
import { runs } from "../../helpers/long_part.ts";

const read = (page: string, maxChars = 100_000) =>
  pageMarkdown(page, { url: new URL("https://site.example/docs/a"), maxChars, signal: undefined });
const text = async (page: string): Promise<string> => (await read(page)).text;

Deno.test("web.readable() makes Markdown: headings, emphasis, links, images, code, lists, quotes, tables", async () => {
  const page = await read(`<!doctype html><html><head><title> A &amp; B
    </title><style>p{}</style></head><body><script>"<p>no</p>"</script>
    <h1>Big <em>news</em></h1><p>One&nbsp;two
      <b> three </b>four<br>five <a href="../b?x=1&amp;y=2#z"> a link </a>, <a href="javascript:alert(1)">none</a>
    <p>Second &lt;tag&gt; <code>x = 1</code> <img src=/i.png alt="an image"> <img src=x.png>
    <ul><li>a<li>b<ol start=3><li>c</li><li><p>d</p><p>e</p></ol></ul>
    <blockquote><p>said</p><p>twice</p></blockquote>
    <pre><code class="x language-ts">if (a &lt; b) {
  c();
}
</code></pre><hr>
    <table><tr><th>n</th><th>v</th></tr><tr><td>a|b</td><td><b>1</b></td></tr><tr><td>c</table>
    </body>`);
  assert.equal(page.title, "A & B");
  assert.equal(
    page.text,
    `# Big *news*

One two **three** four
five [a link](https://site.example/b?x=1&y=2#z) , none

Second <tag> \`x = 1\` ![an image](https://site.example/i.png)

- a
- b
  3. c
  4. d

     e

> said

> twice

\`\`\`ts
if (a < b) {
  c();
}
\`\`\`

---

| n | v |
| --- | --- |
| a\\|b | **1** |
| c |  |`,
  );
  assert.deepEqual(page.links, [{ text: "a link", url: "https://site.example/b?x=1&y=2#z" }]);
});

Deno.test("web.readable() keeps links around headings and paragraphs, and icons and scripts end no paragraph", async () => {
  const cards = await read(
    `<a href="/1"><h3>One</h3><p>first</p></a><ul><li><a href=/2><div><b><p>Two</p></b></div></a></ul>
     <p>see <a href="/3">three <svg><path/></svg></a>, <math><mi>x</mi><mo>=</mo><mn>2</mn></math><script>1</script> too</p>`,
  );
  assert.equal(
    cards.text,
    "### [One](https://site.example/1)\n\nfirst\n\n- [Two](https://site.example/2)\n\n" +
      "see [three](https://site.example/3) , x=2 too",
  );
  assert.deepEqual(cards.links.map(({ text }) => text), ["One", "Two", "three"]);
});

Deno.test("web.readable() takes the first base of a page for its addresses", async () => {
  const page = await read(`<head><base target=x><base href="/other/"><base href="/no/"></head><a href=x>x</a>`);
  assert.deepEqual(page.links, [{ text: "x", url: "https://site.example/other/x" }]);
});

Deno.test("web.readable() keeps the columns of tables whose cells take several, captions, and all text of cells", async () => {
  const table = (rows: string): Promise<string> => text(`<table>${rows}</table>`);
  assert.equal(
    await table("<caption>Cap</caption><tr><th colspan=2>n<th>a<tr><td rowspan=2>x<td>y<td>1<tr><td>z<td>2"),
    "Cap\n\n| n |  | a |\n| --- | --- | --- |\n| x | y | 1 |\n| x | z | 2 |",
  );
  assert.match(await table("<tr><td>a<td>b<tr><td>before<pre>code</pre>after<td>c"), /\| before after \| c \|/);
  const long = await table("<tr><td>a<td>b".repeat(2_003));
  assert.ok(long.startsWith("| a | b |\n| --- | --- |\n| a | b |") && long.endsWith("| a | b |\n\n[3 more rows]"));
  const repeated = await table(
    `<tr>${`<td rowspan=9999 colspan=0>${"x".repeat(300)}`.repeat(50)}${"<tr>".repeat(1_999)}`,
  );
  assert.ok(repeated.length < 600_000, `${repeated.length}`);
});

Deno.test("web.readable() omits everything but text, and takes the main part if the page names one", async () => {
  const body = "word ".repeat(60).trim();
  const around = (main: string): string =>
    `<nav><a href="/x">menu</a></nav><div role="navigation">nav</div><header>head</header>${main}
     <aside>advert</aside><p hidden>hidden</p><span aria-hidden="true">icon</span><footer>foot</footer>`;
  assert.equal(await text(around(`<p>${body}</p>`)), `head\n\n${body}`);
  assert.equal(await text(around(`<main><p>${body}</p></main>`)), body);
  assert.equal(await text(around(`<div role=main><p>${body}</p></div>`)), body);
  assert.equal(await text(around(`<article><p>${body}</p></article><p>other</p>`)), body);
  assert.match(await text(around(`<main>short</main><p>${body}</p>`)), /word/);
  assert.equal(await text("<p>a<noscript>b</noscript><button>c</button><svg><text>d</text></svg><p>e"), "a\n\ne");
  assert.equal(await text("<table><tr><td>only one</td></tr></table>"), "only one");
  assert.equal(await text("plain text & more"), "plain text & more");
  assert.equal(await text(""), "");
});

Deno.test("web.readable() takes time that grows only with the page, whatever its shape, and can be aborted", async () => {
  const n = runs(25_000, 150_000);
  const shapes = {
    deep: "<div>".repeat(n),
    unclosed: "<b>".repeat(n) + "</i>".repeat(n),
    lists: "<ul><li>".repeat(n) + "x",
    cells: "<table>".repeat(n) + "<td>x".repeat(n),
    links: "<a href=x>y".repeat(n),
    entities: "&amp".repeat(n),
    attributes: `<p ${"a=b ".repeat(n)}>x`,
    value: `<a href="${"&amp;".repeat(n)}">x</a>`,
    comments: "<!--".repeat(n),
    tags: "<".repeat(n),
    ticks: `<pre>${"`".repeat(n)}</pre>`,
    blanks: `<p>${" ".repeat(n)}\n${" \n".repeat(n)}x`,
    breaks: "<br>".repeat(n),
    quotes: "<blockquote>a".repeat(n),
    marks: "<b>a</b>".repeat(n),
  };
  for (const [name, page] of Object.entries(shapes)) {
    const begun = cpuMs();
    const result = await read(page);
    const ms = cpuMs() - begun;
    assert.ok(ms < Math.min(5_000, n / 10), `${name}: ${ms} ms`);
    assert.ok(result.text.length < 40 * n, `${name}: ${result.text.length}`);
  }
  const controller = new AbortController();
  const url = new URL("https://site.example/");
  const reading = pageMarkdown("<p>a".repeat(2_000_000), { url, maxChars: 1e9, signal: controller.signal });
  controller.abort(new Error("given up"));
  await assert.rejects(reading, /given up/);
});

Deno.test("web.readable() lets other work run while it reads, and reports the omitted part", async () => {
  let longest = 0, last = cpuMs();
  const timer = setInterval(() => {
    longest = Math.max(longest, cpuMs() - last);
    last = cpuMs();
  }, 1);
  const page = await read(`<p>${"some words <b>and more</b> ".repeat(40_000)}</p>`.repeat(2), 50_000);
  clearInterval(timer);
  assert.equal(page.truncated, true);
  // The limit is a fraction of the whole time, because machines of tests are slow.
  assert.ok(longest < 250, `${longest}`);
});

Deno.test("web.readable() gives no more text than its limit, whatever a page hides it in", async () => {
  const pages = {
    links: Array.from({ length: 20_000 }, (_, i) => `<a href="/${i}/${"x".repeat(1_000)}">x</a>`).join(""),
    images: "<img alt=a src=/x>".repeat(50_000),
    quotes: `${"<blockquote>".repeat(200)}${"a<br>".repeat(100_000)}`,
    marks: "<b>a</b>".repeat(50_000),
  };
  for (const [name, page] of Object.entries(pages)) {
    const options = { url: new URL("https://site.example/"), maxChars: 40_000, signal: undefined };
    const { text, links, truncated } = await pageMarkdown(page, options);
    assert.ok(text.length <= 44_000, `${name}: ${text.length} characters`);
    assert.ok(JSON.stringify(links).length <= 100_000, `${name}: links`);
    assert.equal(truncated, true, name);
  }
});

Deno.test("web.readable() reads pages in their own character sets, other text unchanged, and no binary", async () => {
  const latin = Uint8Array.from("<html><meta charset=latin1><p>caf\xe9", (one) => one.charCodeAt(0));
  const one = site({
    "/page": reply(latin, { "content-type": "text/html" }),
    "/feed": reply(
      Uint8Array.from("<?xml version='1.0' encoding='iso-8859-1'?><a>caf\xe9</a>", (one) => one.charCodeAt(0)),
      {
        "content-type": "application/rss+xml",
      },
    ),
    "/utf16": reply(Uint8Array.of(0xff, 0xfe, 0x61, 0, 0xe4, 0), { "content-type": "text/plain" }),
    "/empty": reply("", { "content-type": "text/plain", "content-encoding": "gzip" }),
    "/moved": reply("", { location: "/t\u00ebxt" }, 301),
    "/t%C3%ABxt": reply("moved", { "content-type": "text/plain" }),
    "/text": reply("# as it is\n<p>", { "content-type": "text/markdown" }),
    "/pdf": reply(Uint8Array.of(37, 80, 0, 0), { "content-type": "application/pdf" }),
    "/missing": reply("<html><title>Gone</title>not here", { "content-type": "text/html" }, 404),
  });
  try {
    const outside = world({ "site.example": [[PUBLIC]] }, { [`${PUBLIC}:80`]: one.port });
    const get = (path: string) => readablePage(view({ hosts: ["*"] }), `http://site.example${path}`, { outside });
    assert.deepEqual(await get("/page"), {
      status: 200,
      url: "http://site.example/page",
      title: "",
      text: "café",
      links: [],
      truncated: false,
    });
    assert.equal((await get("/text")).text, "# as it is\n<p>");
    assert.match((await get("/feed")).text, /<a>café<\/a>$/);
    assert.equal((await get("/utf16")).text, "aä");
    assert.equal((await get("/empty")).text, "");
    assert.equal((await get("/moved")).text, "moved");
    assert.deepEqual(await get("/missing").then(({ status, title, text }) => [status, title, text]), [
      404,
      "Gone",
      "not here",
    ]);
    await assert.rejects(get("/pdf"), /Cannot read http:\/\/site.example\/pdf: it is application\/pdf; use web.get/);
  } finally {
    await one.close();
  }
});
