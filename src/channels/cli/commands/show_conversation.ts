import { forkNumbers } from "../../../conversation/conversations.ts";
import { blockEnd, endFacts } from "../../../conversation/export/markdown.ts";
import { UsageError } from "../../../domain/errors.ts";
import { clip, countedChoice, visibleText } from "../../../domain/kit/text.ts";
import { BlockTally, withMark } from "../../../domain/query/host_call.ts";
import { blockFailure } from "../../../domain/query/query_progress.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../../domain/query/stored_query.ts";
import type { RecordedBlock, RecordedIteration, RecordedQuery, Recording } from "../../../domain/records/recording.ts";
import { diffLines } from "../../../markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../markdown/terminal/paint.ts";
import { jsonText } from "../output.ts";
import { browse, type CommandInput } from "../program/command.ts";
import { branchFacts, branchLines, type ConversationsFlags } from "./conversations.ts";

export async function showConversation(
  id: string | undefined,
  { services, io, flags }: CommandInput<ConversationsFlags & { readonly query?: number | undefined }>,
): Promise<number> {
  const { whole, branches, shown, lastUsed, numbers } = await browse(
    { services, flags },
    async ({ conversations, workspace }) => {
      const branch = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
      if (!branch) {
        throw new UsageError(
          `Cannot show a conversation: workspace ${workspace} has none yet; name one by its id, or send a request first`,
        );
      }
      const all = await conversations.branches(branch.conversationId);
      const [numbers, { branchId: lastUsed }] = await Promise.all([
        forkNumbers(conversations, all),
        conversations.byId(branch.conversationId),
      ]);
      return { whole: await conversations.recording(branch), branches: all, shown: branch.branchId, lastUsed, numbers };
    },
  );
  const recording = flags.query === undefined ? whole : only(whole, flags.query);
  if (flags.output === "json") {
    const facts = { ...printable(recording), branchId: shown, branches: branches.map(branchFacts) };
    io.stdout(jsonText(facts, { indent: 2 }));
  } else {
    const { conversationId } = whole;
    const fit = io.stdoutIsTerminal ? { fit: { width: io.columns() - 2, conversationId } } : {};
    const tree = branchLines(branches, { shown, lastUsed, numbers, ...fit });
    io.stdout(visibleText(conversationText(recording, { first: flags.query ?? 1, branches: tree })));
  }
  return 0;
}

function only(recording: Recording, number: number): Recording {
  const query = recording.queries[number - 1];
  if (query) return { ...recording, queries: [query] };
  throw new UsageError(
    `Cannot show request ${number}: the branch has ${countedChoice(recording.queries.length, "request")}`,
  );
}

function printable(recording: Recording): object {
  return { ...recording, queries: recording.queries.map(printableQuery) };
}

const SHOWN_CHARS = 4_000;

/** The caller escapes the text for a terminal. */
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
  return [query.status === "done" ? end?.replace("answered", "answer") ?? "" : end, ...facts].join(" · ");
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

const PLAIN = { width: Infinity, paint: terminalPaint({ color: false, weights: false }) };

function blockLines(block: RecordedBlock, at: number): string[] {
  const { code, diffs, result: { preview, stdout, stderr, error, ms, calls } } = block;
  const ended = blockEnd(block).map((line) => `  ${withMark(line)}`);
  const { output } = BlockTally.of(calls);
  return [
    ...quoted(code, `  ${at + 1}│ `),
    ...ended.with(-1, `${ended.at(-1)} (${ms.toFixed(0)} ms)`),
    ...(output === "" ? [] : quoted(output, "  ! ")),
    ...diffs.flatMap((diff) => diffLines(diff, PLAIN).flatMap((line) => quoted(line, "  ± "))),
    ...(preview === "" ? [] : quoted(clip(preview, SHOWN_CHARS), "  = ")),
    ...(stdout === "" ? [] : quoted(clip(stdout, SHOWN_CHARS), "  . ")),
    ...(stderr === "" ? [] : quoted(clip(stderr, SHOWN_CHARS), "  ! ")),
    ...(error === null ? [] : quoted(blockFailure(block.result), "  ! ")),
  ];
}

/** Prefixes every line with a mark, so that stored text cannot imitate lines of Vis. */
function quoted(text: string, mark: string): string[] {
  return text.replace(/\n$/, "").split(/\r\n|[\r\n\u2028\u2029\u0085]/).map((line) => `${mark}${line}`);
}

export function printableQuery(query: RecordedQuery): object {
  return {
    ...query,
    images: query.images.map((image) =>
      image.kind === "url" ? image : { kind: image.kind, mediaType: image.mediaType, bytes: image.bytes.length }
    ),
    iterations: query.iterations.map((iteration) => ({
      ...iteration,
      children: iteration.children.map(printableQuery),
    })),
  };
}
