import { Buffer } from "node:buffer";
import { type Image, imageMediaType } from "../../domain/images.ts";
import { counted, oneLine, visibleText } from "../../domain/kit/text.ts";
import { withMark } from "../../domain/query/host_call.ts";
import { addSpend, NOTHING_SPENT, spentText } from "../../domain/query/model_call.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../domain/query/stored_query.ts";
import type { PagedRecording, RecordedIteration, RecordedQuery } from "../../domain/records/recording.ts";
import { codeSpans } from "../../markdown/code_spans.ts";
import { parseMarkdown } from "../../markdown/parse_markdown.ts";
import { type DiffFile, type DiffLine, diffTitle, parseDiff } from "../../markdown/parse_diff.ts";
import type { MarkdownBlock, MarkdownInline, MarkdownItem, MarkdownList, MarkdownTable } from "../../markdown/tree.ts";
import { blockEnd, endFacts, minute, pageText, resultParts } from "./markdown.ts";

/** The page has no scripts and loads nothing. */
export async function* exportHtml(
  recording: PagedRecording,
  { branches = [] }: { readonly branches?: readonly string[] } = {},
): AsyncGenerator<string> {
  const { conversationId, title, workspace, createdAt } = recording;
  const where = workspace === "" ? "" : ` · workspace ${escaped(workspace)}`;
  const { totals, requests } = await outlineOf(recording);
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${EXPORT_STYLE}</style>
</head>
<body>
<header>
<h1 dir="auto">${escaped(title)}</h1>
<p class="facts">${escaped(conversationId)} · ${minute(createdAt)}${where}</p>
<p class="totals">${totals.map((fact) => `<span>${escaped(fact)}</span>`).join("")}</p>
${branches.length === 0 ? "" : details("Branches", pre(branches.join("\n")))}
${contents(requests)}
</header>
<main>
`;
  let at = 0;
  for await (const query of recording.queries()) {
    at++;
    yield `<section class="query" id="query-${at}" aria-labelledby="heading-${at}">
<h2 id="heading-${at}">Request ${at} <small>${minute(query.createdAt)}</small></h2>
${requestPart(query)}
`;
    let steps = 0, last = 0;
    for await (const iteration of query.iterations()) {
      yield `${stepPart(query, iteration)}\n`;
      steps++;
      last = iteration.number;
    }
    yield `${answerPart(query, { steps, last })}\n</section>\n`;
  }
  yield `</main>
</body>
</html>
`;
}

async function outlineOf({ queries }: PagedRecording) {
  const requests: string[] = [];
  let steps = 0, blocks = 0, time = 0, spent = NOTHING_SPENT;
  for await (const { text, usage, costUsd, ms, iterations } of queries()) {
    requests.push(oneLine(text, 120));
    spent = addSpend(spent, { usage, costUsd });
    time += ms;
    for await (const iteration of iterations()) {
      steps++;
      blocks += iteration.blocks.length;
    }
  }
  const totals = [
    counted(requests.length, "request"),
    counted(steps, "step"),
    counted(blocks, "block"),
    `${(time / 1000).toFixed(1)} s`,
    ...(spent.usage.calls > 0 ? spentText(spent) : []),
  ];
  return { totals, requests };
}

function contents(requests: readonly string[]): string {
  if (requests.length < 2) return "";
  const items = requests.map((text, at) => `<li><a href="#query-${at + 1}">${escaped(text)}</a></li>`);
  return `<nav aria-label="Requests"><ol>${items.join("")}</ol></nav>`;
}

type Facts = Omit<RecordedQuery, "iterations">;

function queryBody(query: RecordedQuery): string {
  const { iterations } = query;
  return [
    requestPart(query),
    ...iterations.map((iteration) => stepPart(query, iteration)),
    answerPart(query, { steps: iterations.length, last: iterations.at(-1)?.number ?? 0 }),
  ].join("\n");
}

function requestPart({ text, images, context }: Facts): string {
  return `<div class="request">${pre(text)}${images.map(imageOf).join("")}${
    context === null ? "" : `<p class="facts">context from ${escaped(context.label)}</p>`
  }</div>`;
}

function stepPart({ steered }: Facts, iteration: RecordedIteration): string {
  return [...steeredInto(steered, iteration.number).map(steeredPart), iterationPart(iteration)].join("\n");
}

function answerPart(query: Facts, { steps, last }: { readonly steps: number; readonly last: number }): string {
  const { answer, notes, status, steered } = query;
  return [
    ...steeredAfter(steered, last).map(steeredPart),
    answer === ""
      ? ""
      : `<div class="answer ${status === "done" ? "" : "none"}" dir="auto"><h3>Answer</h3>${
        answerHtml(pageText(answer), entities)
      }</div>`,
    `<p class="facts">${endFacts(query, steps).map(escaped).join(" · ")}</p>`,
    ...notes.map((note) => `<p class="facts">note: ${escaped(note)}</p>`),
  ].filter((part) => part !== "").join("\n");
}

function steeredPart({ text }: SteeredMessage): string {
  return `<div class="request"><p class="facts">sent while running</p>${pre(text)}</div>`;
}

function iterationPart(iteration: RecordedIteration): string {
  const { number, outcome, status, thinking, error, notes, blocks, calls, children } = iteration;
  const open = blocks.length + calls.length + children.length > 0 || error !== null ? " open" : "";
  const came = outcome || status;
  return [
    `<details class="iteration"${open}><summary>Step ${number} <small class="badge ${
      came === "failed" || came === "refused" || came === "error" ? "bad" : ""
    }">${escaped(came)}</small></summary>`,
    thinking === "" ? "" : `<div class="thinking"><span class="label">Thinking</span>${pre(thinking)}</div>`,
    error === null ? "" : labelled("error", error),
    ...notes.map((note) => `<p class="facts">note: ${escaped(note)}</p>`),
    ...blocks.map(blockPart),
    ...calls.map(({ prompt, reply, error }) =>
      details("Model call", pre(prompt) + labelled(reply === null ? "error" : "result", reply ?? error ?? ""), {
        name: "call",
      })
    ),
    ...children.map((child) => details("Sub-query", queryBody(child), { name: "child" })),
    "</details>",
  ].filter((part) => part !== "").join("\n");
}

const CLASSES = { ok: "ok", refused: "", failed: "bad" } as const;

function blockPart(block: RecordedIteration["blocks"][number]): string {
  const ended = blockEnd(block);
  const end = ended.map((line, at) => {
    const time = at < ended.length - 1 ? "" : ` <small>${block.result.ms.toFixed(0)} ms</small>`;
    return `<p class="end ${CLASSES[line.state]}">${escaped(withMark(line))}${time}</p>`;
  }).join("");
  const code = codeHtml(pageText(block.code), entities);
  const parts = [
    ...block.diffs.flatMap((diff) => parseDiff(diff).map(changePart)),
    ...resultParts(block).map(({ label, text }) => labelled(label, text)),
  ];
  return `<div class="block"><pre class="code"><code dir="ltr">${code}</code></pre>${end}${parts.join("")}</div>`;
}

const SIGNS = { added: "+", removed: "−", same: "" } as const;
const SHOWN_LINES = 40;

function changePart(file: DiffFile): string {
  const { path, added, removed, lines } = file;
  const counts = [
    added > 0 ? ` <span class="added">+${added}</span>` : "",
    removed > 0 ? ` <span class="removed">−${removed}</span>` : "",
  ];
  const head = path === "" ? "" : `<p class="file"><b>${escaped(diffTitle(file))}</b>${counts.join("")}</p>`;
  const rows = (part: typeof lines): string => `<div class="lines" dir="ltr">${part.map(lineRow).join("")}</div>`;
  const rest = lines.slice(SHOWN_LINES);
  const more = rest.length === 0 ? "" : details(counted(rest.length, "more line"), rows(rest));
  return `<div class="change">${head}${lines.length > 0 ? rows(lines.slice(0, SHOWN_LINES)) : ""}${more}</div>`;
}

function lineRow(line: DiffLine): string {
  if (line.kind === "gap") return `<div class="gap"><i></i><i></i><code>⋯</code></div>`;
  if (line.kind === "note") return `<div class="gap"><i></i><i></i><code>${escaped(line.text)}</code></div>`;
  const text = line.spans.map(({ text, changed }) => changed ? `<mark>${escaped(text)}</mark>` : escaped(text)).join(
    "",
  );
  return `<div class="${line.kind}"><i>${line.number}</i><i>${SIGNS[line.kind]}</i><code>${text}</code></div>`;
}

function imageOf(image: Image): string {
  if (image.kind === "url") return `<p class="facts">image ${escaped(image.url.slice(0, 500))}</p>`;
  const mediaType = imageMediaType(image.bytes);
  if (mediaType === null) {
    return `<p class="facts">${counted(image.bytes.length, "byte")} without a known image type</p>`;
  }
  return `<img alt="Image of the request" src="data:${mediaType};base64,${
    Buffer.from(image.bytes).toString("base64")
  }">`;
}

function labelled(label: string, text: string): string {
  return `<div class="part ${
    label === "error" || label === "error output" || label === "failed calls" ? "bad" : ""
  }"><span class="label">${label}</span>${pre(text)}</div>`;
}

function details(summary: string, body: string, { name }: { readonly name?: string } = {}): string {
  return `<details class="${name ?? ""}"><summary>${summary}</summary>${body}</details>`;
}

function pre(text: string): string {
  return `<pre dir="auto">${escaped(text)}</pre>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return entities(pageText(text));
}

function entities(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

type Escaped = (text: string) => string;

const HEADINGS_ABOVE = 3;

const TAGS = { emphasis: "em", strong: "strong", strikethrough: "del" } as const;

/** Images become links and HTML becomes text, so that the page loads nothing. */
export function answerHtml(answer: string, escaped: Escaped): string {
  return blocksHtml(parseMarkdown(answer, { clean: visibleText }), escaped);
}

function blocksHtml(blocks: readonly MarkdownBlock[], escaped: Escaped): string {
  return blocks.map((block) => blockHtml(block, escaped)).join("\n");
}

function blockHtml(block: MarkdownBlock, escaped: Escaped): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlinesHtml(block.inlines, escaped)}</p>`;
    case "heading": {
      const level = Math.min(6, block.level + HEADINGS_ABOVE);
      return `<h${level}>${inlinesHtml(block.inlines, escaped)}</h${level}>`;
    }
    case "code": {
      const code = codeHtml(block.text, escaped, { language: block.language });
      return `<pre class="code"><code dir="ltr">${code}</code></pre>`;
    }
    case "quote":
      return `<blockquote>${blocksHtml(block.blocks, escaped)}</blockquote>`;
    case "list":
      return list(block, escaped);
    case "table":
      return table(block, escaped);
    case "rule":
      return "<hr>";
  }
}

function list({ start, loose, items }: MarkdownList, escaped: Escaped): string {
  const tag = start === null ? "ul" : "ol";
  const from = start === null || start === 1 ? "" : ` start="${start}"`;
  return `<${tag}${from}>${items.map((item) => itemHtml(item, { loose, escaped })).join("")}</${tag}>`;
}

function itemHtml(
  { done, blocks }: MarkdownItem,
  { loose, escaped }: { readonly loose: boolean; readonly escaped: Escaped },
): string {
  const box = done === null ? "" : done ? "☑ " : "☐ ";
  const content = blocks.map((block, at) => {
    const mark = at === 0 ? box : "";
    if (block.kind !== "paragraph") return blockHtml(block, escaped);
    const text = `${mark}${inlinesHtml(block.inlines, escaped)}`;
    return loose ? `<p>${text}</p>` : text;
  });
  return `<li${done === null ? "" : ' class="task"'}>${content.join("\n")}</li>`;
}

function table({ sides, head, rows }: MarkdownTable, escaped: Escaped): string {
  const row = (cells: MarkdownTable["head"], tag: "th" | "td"): string => {
    const shown = cells.map((cell, at) => {
      const side = sides[at] ?? null;
      return `<${tag}${side === null ? "" : ` class="${side}"`}>${inlinesHtml(cell, escaped)}</${tag}>`;
    });
    return `<tr>${shown.join("")}</tr>`;
  };
  const body = rows.length === 0 ? "" : `<tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody>`;
  return `<table><thead>${row(head, "th")}</thead>${body}</table>`;
}

function inlinesHtml(inlines: readonly MarkdownInline[], escaped: Escaped): string {
  return inlines.map((inline) => inlineHtml(inline, escaped)).join("");
}

function inlineHtml(inline: MarkdownInline, escaped: Escaped): string {
  switch (inline.kind) {
    case "text":
      return escaped(inline.text);
    case "code":
      return `<code>${escaped(inline.text)}</code>`;
    case "break":
      return "<br>";
    case "link":
      return link(inlinesHtml(inline.inlines, escaped), { address: inline.href, title: inline.title, escaped });
    case "image": {
      const label = escaped(inline.alt === "" ? inline.src : inline.alt);
      return link(label, { address: inline.src, title: inline.title, escaped });
    }
    default:
      return `<${TAGS[inline.kind]}>${inlinesHtml(inline.inlines, escaped)}</${TAGS[inline.kind]}>`;
  }
}

function link(
  label: string,
  { address, title, escaped }: { readonly address: string; readonly title: string; readonly escaped: Escaped },
): string {
  const also = title === "" ? "" : ` title="${escaped(title)}"`;
  return `<a href="${escaped(address)}"${also} rel="noopener noreferrer">${label}</a>`;
}

export function codeHtml(
  code: string,
  escaped: (text: string) => string,
  { language = "ts" }: { readonly language?: string } = {},
): string {
  const parts: string[] = [];
  for (const { kind, text } of codeSpans(code, language)) {
    parts.push(kind === "plain" ? escaped(text) : `<span class="${kind}">${escaped(text)}</span>`);
  }
  return parts.join("");
}

const EXPORT_STYLE = `
:root { color-scheme: light dark; --back: #f6f6f4; --card: #ffffff; --text: #1d1f21; --soft: #5c6166; --line: #dcdee0;
  --code: #f3f4f5; --answer: #eaf5ec; --edge: #2f8a4c; --bad: #a3262b; --ok: #1d6c39; --link: #0b57a4; --ask: #e8f0fa;
  --add: #e3f3e7; --add-mark: #b4dfc0; --cut: #fbe7e6; --cut-mark: #f4c0bd; --comment: #616c64; --string: #8a3d14; --keyword: #6b34b8; --number: #0d6470; }
@media (prefers-color-scheme: dark) {
  :root { --back: #131517; --card: #1a1d20; --text: #e4e6e8; --soft: #a2a8ae; --line: #33383d; --code: #212529;
    --answer: #16291c; --edge: #5fbf7f; --bad: #ff8f8f; --ok: #7fd69a; --link: #8cc1ff; --ask: #17263a;
    --add: #17291d; --add-mark: #2b5a3a; --cut: #331c1e; --cut-mark: #6e3236; --comment: #95a59a; --string: #e8a87c; --keyword: #c8a6ff; --number: #7fd0dd; }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1rem 4rem; background: var(--back); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1rem; margin: 2.75rem 0 .6rem; color: var(--soft); }
h3 { font-size: .8rem; margin: 0 0 .4rem; color: var(--edge); letter-spacing: .04em; text-transform: uppercase; }
h4 { font-size: 1.05rem; margin: .75rem 0 .25rem; }
small, .facts, .label { color: var(--soft); font-size: .85rem; font-weight: normal; }
a { color: var(--link); }
header .facts { margin: 0 0 .75rem; }
.totals { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 1rem; }
.totals span { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem;
  font-size: .85rem; }
nav { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .25rem 1rem; }
nav ol { padding-left: 1.5rem; margin: .5rem 0; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font: inherit; }
.code, code, .part pre, .call pre { font: .875rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.request { background: var(--ask); border-radius: 8px; border-left: 4px solid var(--link); padding: .7rem 1rem;
  margin-bottom: 1rem; font-size: 1.05rem; }
.answer { background: var(--answer); border-left: 4px solid var(--edge); border-radius: 8px; padding: .8rem 1.1rem;
  margin: 1rem 0 .5rem; }
.answer.none { background: var(--card); border-color: var(--bad); }
.answer.none h3 { color: var(--bad); }
.answer > :last-child, .answer blockquote > :last-child, .answer li > :last-child { margin-bottom: 0; }
.answer p { white-space: pre-wrap; margin: 0 0 .6rem; }
.answer li { white-space: pre-wrap; }
.answer ul, .answer ol { white-space: normal; margin: 0 0 .6rem; padding: 0 0 0 1.6rem; }
.answer .task { list-style: none; margin-left: -1.2rem; }
.answer h5, .answer h6 { font-size: 1rem; margin: .75rem 0 .25rem; }
.answer hr { border: 0; border-top: 1px solid var(--line); margin: .9rem 0; }
.answer blockquote { margin: 0 0 .6rem; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--soft); }
.answer :not(pre) > code { background: var(--code); border-radius: 4px; padding: .05rem .3rem; }
.answer .code { margin-bottom: .6rem; }
table { border-collapse: collapse; margin: 0 0 .6rem; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: start; vertical-align: top; }
th { background: var(--code); }
.left { text-align: left; } .center { text-align: center; } .right { text-align: right; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.iteration { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .55rem .9rem; }
.iteration > summary { font-weight: 600; }
.badge { border: 1px solid var(--line); border-radius: 1rem; padding: .05rem .55rem; margin-left: .3rem; }
.badge.bad { color: var(--bad); border-color: currentColor; }
.thinking { color: var(--soft); margin: .5rem 0 .25rem; padding-left: .8rem; border-left: 2px solid var(--line);
  font-style: italic; }
.thinking .label { font-style: normal; }
.thinking pre { max-height: 16rem; overflow: auto; }
.block { margin: .75rem 0; }
.code { background: var(--code); border-radius: 6px; padding: .6rem .8rem; tab-size: 2; }
.comment { color: var(--comment); font-style: italic; } .string { color: var(--string); }
.keyword { color: var(--keyword); } .number, .value { color: var(--number); }
.added { color: var(--ok); } .removed { color: var(--bad); } .place, .file { color: var(--comment); }
.change { margin: .4rem 0 .6rem; border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.change .file { margin: 0; padding: .3rem .7rem; color: var(--text); border-bottom: 1px solid var(--line); font-size: .9rem; }
.change .lines { display: table; width: 100%; }
.change .lines > div { display: table-row; color: var(--text); }
.change i, .change code { display: table-cell; white-space: pre-wrap; tab-size: 4; background: none; }
.change i { width: 1px; padding: 0 .15rem 0 .7rem; text-align: right; font: .8rem/1.55 ui-monospace, SFMono-Regular, Menlo,
  Consolas, monospace; color: var(--soft); user-select: none; }
.change i + i { padding: 0 .4rem; }
.change .lines > .added { background: var(--add); } .change .lines > .removed { background: var(--cut); }
.change mark { color: inherit; border-radius: 2px; background: var(--add-mark); }
.change .removed mark { background: var(--cut-mark); }
.change .gap code { color: var(--soft); }
.change details { margin: 0; padding: .2rem .7rem; }
.end { margin: .3rem 0; font-size: .9rem; }
.ok { color: var(--ok); }
.bad, .bad pre { color: var(--bad); }
.part { margin: .25rem 0 .5rem; }
.part pre { max-height: 24rem; overflow: auto; border-left: 2px solid var(--line); padding-left: .8rem; }
.child { border-left: 3px solid var(--line); padding-left: .75rem; }
img { display: block; max-width: 100%; max-height: 30rem; margin: .5rem 0; border-radius: 6px; }
@media print {
  body { max-width: none; padding: 0; } .part pre, .thinking pre { max-height: none; }
  .iteration, .answer, .request { break-inside: auto; }
}
`;
