import { Buffer } from "node:buffer";
import { type Image, imageMediaType } from "../../domain/images.ts";
import { oneLine, visibleText } from "../../domain/kit/text.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../domain/query/stored_query.ts";
import type { PagedRecording, RecordedIteration, RecordedQuery } from "../../domain/records/recording.ts";
import { codeSpans } from "../../markdown/code_spans.ts";
import { parseMarkdown } from "../../markdown/parse_markdown.ts";
import type { MarkdownBlock, MarkdownInline, MarkdownItem, MarkdownList, MarkdownTable } from "../../markdown/tree.ts";
import { blockEnd, endFacts, minute, pageText, resultParts } from "./parts.ts";
import { EXPORT_STYLE } from "./style.ts";

/** A conversation as a single HTML page without scripts that loads nothing, in pieces. All stored text is escaped. */
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

/** The totals of a conversation, and the beginnings of its requests. */
async function outlineOf({ queries }: PagedRecording) {
  const requests: string[] = [];
  let steps = 0, blocks = 0, tokens = 0, cost = 0, time = 0;
  for await (const { text, usage, costUsd, ms, iterations } of queries()) {
    requests.push(oneLine(text, 120));
    tokens += usage.input + usage.output;
    cost += costUsd ?? 0;
    time += ms;
    for await (const iteration of iterations()) {
      steps++;
      blocks += iteration.blocks.length;
    }
  }
  const totals = [
    counted(requests.length, ["request", "requests"]),
    counted(steps, ["step", "steps"]),
    counted(blocks, ["block", "blocks"]),
    `${(time / 1000).toFixed(1)} s`,
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(cost > 0 ? [`$${cost.toFixed(4)}`] : []),
  ];
  return { totals, requests };
}

function counted(n: number, [one, many]: readonly [string, string]): string {
  return `${n} ${n === 1 ? one : many}`;
}

function contents(requests: readonly string[]): string {
  if (requests.length < 2) return "";
  const items = requests.map((text, at) => `<li><a href="#query-${at + 1}">${escaped(text)}</a></li>`);
  return `<nav aria-label="Queries"><ol>${items.join("")}</ol></nav>`;
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
  // If an iteration only answers, the answer below shows everything except the thinking.
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
    ...children.map((child) => details("Child query", queryBody(child), { name: "child" })),
    "</details>",
  ].filter((part) => part !== "").join("\n");
}

function blockPart(block: RecordedIteration["blocks"][number]): string {
  const { ok, text } = blockEnd(block);
  const end = `<p class="end ${ok ? "ok" : "bad"}">${ok ? "✓" : "✗"} ${escaped(text)} <small>${
    block.result.ms.toFixed(0)
  } ms</small></p>`;
  const code = codeHtml(pageText(block.code), entities);
  const parts = resultParts(block).map(({ label, text }) => labelled(label, text));
  return `<div class="block"><pre class="code"><code dir="ltr">${code}</code></pre>${end}${parts.join("")}</div>`;
}

/** Image data of a known type is embedded in the page; a URL is shown, but never fetched. */
function imageOf(image: Image): string {
  if (image.kind === "url") return `<p class="facts">image ${escaped(image.url.slice(0, 500))}</p>`;
  const mediaType = imageMediaType(image.bytes);
  if (mediaType === null) return `<p class="facts">${image.bytes.length} bytes that are not an image</p>`;
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

/** The headings of the page come first. */
const HEADINGS_ABOVE = 3;
const TAGS = { emphasis: "em", strong: "strong", strikethrough: "del" } as const;

/** A Markdown answer as HTML that loads nothing. Images are links; HTML appears as written. */
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

/** The paragraphs of a list without empty lines stand for themselves. */
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

/** Code as HTML: comments, strings, keywords and other spans, all passed through `escaped`. */
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
