import { Buffer } from "node:buffer";
import { oneLine } from "../../domain/text/clip.ts";
import type { Image } from "../../domain/images/image.ts";
import { imageMediaType } from "../../domain/images/media_type.ts";
import type { RecordedIteration, RecordedQuery, Recording } from "../../domain/records/recording.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../domain/query/steered_message.ts";
import { answerHtml } from "./answer.ts";
import { codeHtml } from "./code.ts";
import { blockEnd, endFacts, minute, pageText, resultParts } from "./parts.ts";
import { EXPORT_STYLE } from "./style.ts";

/** A conversation as a single HTML page without scripts that loads nothing. All stored text is escaped. */
export function exportHtml(
  recording: Recording,
  { branches = [] }: { readonly branches?: readonly string[] } = {},
): string {
  const { conversationId, title, workspace, createdAt, queries } = recording;
  const where = workspace === "" ? "" : ` · workspace ${escaped(workspace)}`;
  return `<!doctype html>
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
<p class="totals">${totals(queries).map((fact) => `<span>${escaped(fact)}</span>`).join("")}</p>
${branches.length === 0 ? "" : details("Branches", pre(branches.join("\n")))}
${contents(queries)}
</header>
<main>
${queries.map((query, at) => section(query, { at })).join("\n")}
</main>
</body>
</html>
`;
}

/** Totals of the conversation. */
function totals(queries: readonly RecordedQuery[]): readonly string[] {
  const sum = (of: (query: RecordedQuery) => number): number => queries.reduce((all, query) => all + of(query), 0);
  const blocks = sum(({ iterations }) => iterations.reduce((all, one) => all + one.blocks.length, 0));
  const tokens = sum(({ usage }) => usage.input + usage.output);
  const cost = sum(({ costUsd }) => costUsd ?? 0);
  return [
    counted(queries.length, ["request", "requests"]),
    counted(sum(({ iterations }) => iterations.length), ["step", "steps"]),
    counted(blocks, ["block", "blocks"]),
    `${(sum(({ ms }) => ms) / 1000).toFixed(1)} s`,
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(cost > 0 ? [`$${cost.toFixed(4)}`] : []),
  ];
}

function counted(n: number, [one, many]: readonly [string, string]): string {
  return `${n} ${n === 1 ? one : many}`;
}

function contents(queries: readonly RecordedQuery[]): string {
  if (queries.length < 2) return "";
  const items = queries.map(({ text }, at) => (
    `<li><a href="#query-${at + 1}">${escaped(oneLine(text, 120))}</a></li>`
  ));
  return `<nav aria-label="Queries"><ol>${items.join("")}</ol></nav>`;
}

function section(query: RecordedQuery, { at }: { readonly at: number }): string {
  return `<section class="query" id="query-${at + 1}" aria-labelledby="heading-${at + 1}">
<h2 id="heading-${at + 1}">Request ${at + 1} <small>${minute(query.createdAt)}</small></h2>
${queryBody(query)}
</section>`;
}

function queryBody(query: RecordedQuery): string {
  const { text, images, context, iterations, answer, notes, status, steered } = query;
  return [
    `<div class="request">${pre(text)}${images.map(imageOf).join("")}${
      context === null ? "" : `<p class="facts">context from ${escaped(context.label)}</p>`
    }</div>`,
    ...iterations.flatMap((iteration) => [
      ...steeredInto(steered, iteration.number).map(steeredPart),
      iterationPart(iteration),
    ]),
    ...steeredAfter(steered, iterations).map(steeredPart),
    answer === ""
      ? ""
      : `<div class="answer ${status === "done" ? "" : "none"}" dir="auto"><h3>Answer</h3>${
        answerHtml(pageText(answer), entities)
      }</div>`,
    `<p class="facts">${endFacts(query).map(escaped).join(" · ")}</p>`,
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
