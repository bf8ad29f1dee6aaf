import { blockEnd, endFacts } from "../../../conversation/export/parts.ts";
import { clip } from "../../../domain/kit/text.ts";
import { BlockTally } from "../../../domain/query/calls.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../../domain/query/stored_query.ts";
import type { RecordedBlock, RecordedIteration, RecordedQuery, Recording } from "../../../domain/records/recording.ts";

const SHOWN_CHARS = 4_000;

/** A conversation as readable text: every request with thinking, blocks and answer. `first` numbers the first query,
 * `branches` are lines about the branches. The caller escapes it for a terminal. */
export function conversationText(
  recording: Recording,
  { first, branches = [] }: { readonly first: number; readonly branches?: readonly string[] },
): string {
  const { conversationId, title, workspace, queries } = recording;
  return [
    `${conversationId} · ${title}`,
    ...(workspace === "" ? [] : [`workspace ${workspace}`]),
    ...branches,
    ...queries.flatMap((query, at) => ["", `# Request ${first + at}`, ...queryLines(query)]),
    "",
  ].join("\n");
}

function queryLines(query: RecordedQuery): string[] {
  const { text, images, context, iterations, answer, running, notes, steered } = query;
  return [
    ...quoted(text, "> "),
    ...images.flatMap((image) =>
      quoted(`[image ${image.kind === "url" ? image.url : `${image.mediaType}, ${image.bytes.length} bytes`}]`, "> ")
    ),
    ...(context === null ? [] : quoted(`[context from ${context.label}]`, "> ")),
    ...iterations.flatMap((iteration) => [
      ...steeredLines(steeredInto(steered, iteration.number)),
      ...["", ...iterationLines(iteration)],
    ]),
    ...steeredLines(steeredAfter(steered, iterations.at(-1)?.number ?? 0)),
    "",
    running ? "still running" : endLine(query),
    ...notes.map((note) => `note: ${note}`),
    ...(answer === "" ? [] : quoted(answer, "  ")),
  ];
}

function steeredLines(messages: readonly SteeredMessage[]): string[] {
  return messages.flatMap(({ text }) => ["", "sent while running:", ...quoted(text, "> ")]);
}

function endLine(query: RecordedQuery): string {
  const [end, ...facts] = endFacts(query, query.iterations.length);
  return [query.status === "done" ? `answer (${query.confidence})` : end, ...facts].join(" · ");
}

function iterationLines(iteration: RecordedIteration): string[] {
  const { number, outcome, status, thinking, error, notes, blocks, calls, children } = iteration;
  return [
    `## Step ${number} · ${outcome || status}`,
    ...(thinking === "" ? [] : quoted(clip(thinking, SHOWN_CHARS), "~ ")),
    ...(error === null ? [] : [`! ${clip(error, SHOWN_CHARS)}`]),
    ...notes.map((note) => `note: ${note}`),
    ...blocks.flatMap(blockLines),
    ...calls.flatMap(({ prompt, reply, error }) => [
      "model call:",
      ...quoted(clip(prompt, SHOWN_CHARS), "  > "),
      ...quoted(clip(reply ?? `failed: ${error}`, SHOWN_CHARS), "  < "),
    ]),
    ...children.flatMap((child) => ["child request:", ...quoted(queryLines(child).join("\n"), "  | ")]),
  ];
}

function blockLines(block: RecordedBlock, at: number): string[] {
  const { code, diffs, result: { preview, stdout, stderr, error, ms, calls } } = block;
  const { ok, text } = blockEnd(block);
  const { output } = BlockTally.of(calls);
  return [
    ...quoted(code, `  ${at + 1}│ `),
    `  ${ok ? "✓" : "✗"} ${text} (${ms.toFixed(0)} ms)`,
    ...(output === "" ? [] : quoted(output, "  ! ")),
    ...diffs.flatMap((diff) => quoted(clip(diff, SHOWN_CHARS), "  ± ")),
    ...(preview === "" ? [] : quoted(clip(preview, SHOWN_CHARS), "  = ")),
    ...(stdout === "" ? [] : quoted(clip(stdout, SHOWN_CHARS), "  . ")),
    ...(stderr === "" ? [] : quoted(clip(stderr, SHOWN_CHARS), "  ! ")),
    ...(error === null ? [] : quoted(`${error.name}: ${error.message}`, "  ! ")),
  ];
}

/** Prefixes every line with a mark, so that stored text cannot imitate our lines. */
function quoted(text: string, mark: string): string[] {
  return text.replace(/\n$/, "").split(/\r\n|[\r\n\u2028\u2029\u0085]/).map((line) => `${mark}${line}`);
}
