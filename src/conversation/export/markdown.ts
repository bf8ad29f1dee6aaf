import { clip, counted, oneLine, visibleText } from "../../domain/kit/text.ts";
import { BlockTally, type CallLine, withMark } from "../../domain/query/host_call.ts";
import { spentText } from "../../domain/query/model_call.ts";
import { reasonText } from "../../domain/query/outcomes.ts";
import { blockFailure, blockLine } from "../../domain/query/query_progress.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../domain/query/stored_query.ts";
import type {
  PagedRecording,
  RecordedBlock,
  RecordedIteration,
  RecordedQuery,
} from "../../domain/records/recording.ts";
import { diffCounts, type DiffFile, diffTitle, parseDiff } from "../../markdown/parse_diff.ts";

/** If a request or an answer contains HTML or an image, a fence surrounds the text, so that a viewer loads nothing. */
export async function* exportMarkdown(
  recording: PagedRecording,
  { branches = [] }: { readonly branches?: readonly string[] } = {},
): AsyncGenerator<string> {
  const { conversationId, title, workspace, createdAt } = recording;
  yield [
    `# ${inline(title)}`,
    "",
    `Conversation \`${conversationId}\`, ${minute(createdAt)}${
      workspace === "" ? "" : `, workspace ${code(workspace)}`
    }`,
    ...(branches.length === 0 ? [] : ["", ...fenced(branches.join("\n"), "text")]),
    "",
  ].join("\n");
  let request = 0;
  for await (const query of recording.queries()) {
    yield text(["", `## Request ${++request}`, "", ...requestLines(query)]);
    let steps = 0, last = 0;
    for await (const iteration of query.iterations()) {
      yield text(stepLines(query, iteration));
      steps++;
      last = iteration.number;
    }
    yield text(answerLines(query, { steps, last }));
  }
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

type Facts = Omit<RecordedQuery, "iterations">;

function queryLines(query: RecordedQuery): string[] {
  const { iterations } = query;
  return [
    ...requestLines(query),
    ...iterations.flatMap((iteration) => stepLines(query, iteration)),
    ...answerLines(query, { steps: iterations.length, last: iterations.at(-1)?.number ?? 0 }),
  ];
}

function requestLines({ text, images, context }: Facts): string[] {
  return [
    ...quotedOrFenced(pageText(text)),
    ...images.flatMap((image) => [
      ">",
      `> Image: ${image.kind === "url" ? code(image.url) : `${inline(image.mediaType)}, ${image.bytes.length} bytes`}`,
    ]),
    ...(context === null ? [] : [">", `> Context: ${code(context.label)}`]),
  ];
}

function stepLines({ steered }: Facts, iteration: RecordedIteration): string[] {
  return [...steeredLines(steeredInto(steered, iteration.number)), "", ...iterationLines(iteration)];
}

function answerLines(
  query: Facts,
  { steps, last }: { readonly steps: number; readonly last: number },
): string[] {
  const { answer, notes, steered } = query;
  return [
    ...steeredLines(steeredAfter(steered, last)),
    "",
    `### Answer`,
    "",
    ...(answer === "" ? [] : [...quotedOrFenced(pageText(answer)), ""]),
    `*${endFacts(query, steps).join(" · ")}*`,
    ...notes.map((note) => `\n*Note: ${inline(note)}*`),
  ];
}

function steeredLines(messages: readonly SteeredMessage[]): string[] {
  return messages.flatMap(({ text }) => ["", "Sent while running:", "", ...quotedOrFenced(pageText(text))]);
}

function iterationLines(
  { number, outcome, status, thinking, error, notes, blocks, calls, children }: RecordedIteration,
) {
  return [
    `### Step ${number} · ${inline(outcome || status)}`,
    ...(thinking === "" ? [] : ["", "Thinking:", "", ...fenced(pageText(thinking), "text")]),
    ...(error === null ? [] : ["", "Error:", "", ...fenced(pageText(error), "text")]),
    ...notes.map((note) => `\nNote: ${inline(note)}`),
    ...blocks.flatMap((block) => ["", ...blockLines(block)]),
    ...calls.flatMap(({ prompt, reply, error }) => [
      ...["", "Model call:", "", ...fenced(pageText(prompt), "text")],
      ...["", reply === null ? "Failed:" : "Reply:", "", ...fenced(pageText(reply ?? error ?? ""), "text")],
    ]),
    ...children.flatMap((child) => ["", "Sub-query:", "", ...quoted(queryLines(child).join("\n"))]),
  ];
}

function blockLines(block: RecordedIteration["blocks"][number]): string[] {
  const ended = blockEnd(block).map(withMark).map(inline);
  return [
    ...fenced(pageText(block.code), "ts"),
    ...ended.with(-1, `${ended.at(-1)} (${block.result.ms.toFixed(0)} ms)`).flatMap((line) => ["", line]),
    ...block.diffs.flatMap((diff) => parseDiff(diff).flatMap(changeLines)),
    ...resultParts(block).flatMap(({ label, text }) => ["", `${label}:`, "", ...fenced(pageText(text), "text")]),
  ];
}

const SIGNS = { added: "+", removed: "-", same: " " } as const;

function changeLines(file: DiffFile): string[] {
  const lines = file.lines.map((line) => {
    if (line.kind === "gap") return "⋯";
    return line.kind === "note" ? line.text : `${SIGNS[line.kind]}${line.spans.map(({ text }) => text).join("")}`;
  });
  const head = `${inline(diffTitle(file))} ${diffCounts(file)}`.trimEnd();
  return ["", ...(file.path === "" ? [] : [`${head}:`, ""]), ...fenced(pageText(lines.join("\n")), "diff")];
}

function quotedOrFenced(text: string): string[] {
  return /<|!\[/.test(text) ? fenced(text, "markdown") : quoted(text);
}

function fenced(text: string, language: string): string[] {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, ...text.split("\n"), fence];
}

function quoted(text: string): string[] {
  return text.split("\n").map((line) => line === "" ? ">" : `> ${line}`);
}

function code(text: string): string {
  const flat = pageText(text).replace(/\s+/g, " ");
  const longest = Math.max(0, ...(flat.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = flat.startsWith("`") || flat.endsWith("`") ? " " : "";
  return `${fence}${space}${flat}${space}${fence}`;
}

function inline(text: string): string {
  return pageText(text).replace(/\s+/g, " ").replace(/[\\`*_[\]<>#!|~&]/g, "\\$&");
}

const MAX_CHARS = 100_000;

export function pageText(text: string): string {
  return visibleText(clip(text, MAX_CHARS).toWellFormed());
}

export function endFacts(query: Omit<RecordedQuery, "iterations">, steps: number): readonly string[] {
  const { running, status, reason, confidence, ms } = query;
  return [
    running
      ? "still running"
      : status === "done"
      ? `answered${confidence === null ? "" : ` (${confidence} confidence)`}`
      : reason === null
      ? status
      : reasonText(reason),
    counted(steps, "step"),
    `${(ms / 1000).toFixed(1)} s`,
    ...spentText(query),
  ];
}

export function blockEnd({ code, result }: RecordedBlock): readonly CallLine[] {
  const { lines, isCode, threw } = blockLine({ code, tally: BlockTally.of(result.calls), result });
  const failed: readonly CallLine[] = threw ? [{ state: "failed", text: blockFailure(result) }] : [];
  return [...lines, ...failed].map(({ state, text }) => {
    return { state, text: isCode ? result.outcome : oneLine(visibleText(text), 400) };
  });
}

type PartLabel = "failed calls" | "result" | "output" | "error output" | "error";

export function resultParts(
  { result }: RecordedBlock,
): readonly { readonly label: PartLabel; readonly text: string }[] {
  const { preview, stdout, stderr, error, calls } = result;
  const parts: readonly { readonly label: PartLabel; readonly text: string }[] = [
    { label: "failed calls", text: BlockTally.of(calls).output },
    { label: "result", text: preview },
    { label: "output", text: stdout },
    { label: "error output", text: stderr },
    { label: "error", text: error === null ? "" : `${error.name}: ${error.message}\n${error.excerpt}`.trimEnd() },
  ];
  return parts.filter(({ text }) => text !== "");
}

export function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
