import pc from "picocolors";
import type { BranchOfConversation, Conversations } from "../../../conversation/conversations.ts";
import { blockEnd, endFacts } from "../../../conversation/export/markdown.ts";
import { UsageError } from "../../../domain/errors.ts";
import { isPostgres } from "../../../domain/kit/addresses.ts";
import { ago, clip, counted, countedChoice, localTime, oneLine, visibleText } from "../../../domain/kit/text.ts";
import { BlockTally } from "../../../domain/query/host_call.ts";
import { blockFailure } from "../../../domain/query/query_progress.ts";
import { steeredAfter, steeredInto, type SteeredMessage } from "../../../domain/query/stored_query.ts";
import type { RecordedBlock, RecordedIteration, RecordedQuery, Recording } from "../../../domain/records/recording.ts";
import { diffLines } from "../../../markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../markdown/terminal/paint.ts";
import type { Io } from "../../channel.ts";
import { jsonText, printReport } from "../output.ts";
import { browse, type CommandInput, forkPoint, type StoredCommand } from "../program/command.ts";

interface ConversationsFlags {
  readonly output: "text" | "json";
  readonly db?: string | undefined;
}

export async function printConversations(
  { services, io, flags }: CommandInput<ConversationsFlags & { readonly limit: number; readonly here?: boolean }>,
): Promise<number> {
  const found = await browse({ services, flags }, async ({ conversations, workspace }) => {
    const listed = await conversations.list({ limit: flags.limit, ...(flags.here ? { workspace } : {}) });
    return await Promise.all(listed.map(async (one) => {
      const branches = await conversations.branches(one.conversationId);
      return { ...one, branches, numbers: await forkNumbers(conversations, branches) };
    }));
  });
  if (flags.output === "json") {
    const listed = found.map(
      ({ conversationId, title, workspace, queries, running, createdAt, activeAt, branches }) => {
        const facts = { conversationId, title, workspace, queries, running, createdAt, activeAt };
        return { ...facts, branches: branches.map(branchFacts) };
      },
    );
    io.stdout(jsonText(listed, { indent: 2 }));
    return 0;
  }
  for (const one of found) {
    const { conversationId, activeAt, queries, running, title, workspace, branches, numbers } = one;
    if (io.stdoutIsTerminal) {
      io.stdout(`${conversationLine(one, { io, now: Date.now(), here: flags.here === true })}\n`);
      for (const line of branchLines(branches, { lastUsed: one.branchId, numbers })) {
        io.stdout(`  ${visibleText(line)}\n`);
      }
      continue;
    }
    const when = localTime(activeAt);
    const count = counted(queries, "request");
    const named = `${oneLine(title, 80)}${running ? " · running" : ""}`;
    const folder = flags.here || workspace === "" ? "" : `  ${workspace}`;
    io.stdout(`${visibleText(`${conversationId}  ${when}  ${count.padStart(12)}  ${named}${folder}`)}\n`);
    for (const line of branchLines(branches, { lastUsed: one.branchId, numbers })) {
      io.stdout(`  ${visibleText(line)}\n`);
    }
  }
  if (found.length === 0) io.stderr("No conversations yet\n");
  return 0;
}

export async function showConversation(
  id: string | undefined,
  { services, io, flags }: CommandInput<ConversationsFlags & { readonly query?: number | undefined }>,
): Promise<number> {
  const { whole, branches, shown, lastUsed, numbers } = await browse(
    { services, flags },
    async ({ conversations, workspace }) => {
      const branch = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
      if (!branch) {
        throw new UsageError(`Cannot show a conversation: workspace ${workspace} has none; name one by its id`);
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
    const tree = branchLines(branches, { shown, lastUsed, numbers });
    io.stdout(visibleText(conversationText(recording, { first: flags.query ?? 1, branches: tree })));
  }
  return 0;
}

function branchFacts({ branchId, parentBranchId, fork, title, queries, createdAt }: BranchOfConversation): object {
  return { branchId, parentBranchId, fork, title, queries, createdAt };
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

export async function forkConversation(
  id: string,
  { services, io, flags }: StoredCommand<{ readonly at?: string | undefined; readonly json?: boolean }>,
): Promise<number> {
  const place = flags.at === undefined ? id : `${id}@${flags.at}`;
  const made = await browse({ services, flags }, async ({ conversations }) => {
    return await conversations.fork(await forkPoint(conversations, place));
  });
  const { conversationId, branchId } = made;
  if (!flags.json) io.stderr(`Continue it with: vis run --conversation ${branchId} "…"\n`);
  return printReport({ conversationId, branchId }, [branchId], { io, flags });
}

export async function renameConversation(
  id: string,
  words: readonly string[],
  { services, io, flags }: StoredCommand<object>,
): Promise<number> {
  const kept = await browse({ services, flags }, async ({ conversations }) => {
    return await conversations.records.rename(await conversations.byId(id), words.join(" "));
  });
  io.stderr(`${visibleText(kept)}\n`);
  return 0;
}

export async function deleteConversation(
  id: string,
  { services, io, flags }: StoredCommand<{ readonly yes: boolean }>,
): Promise<number> {
  return await browse({ services, flags }, async ({ conversations, database }) => {
    const branch = await conversations.byId(id);
    const branches = await conversations.branches(branch.conversationId);
    const queries = branches.reduce((sum, one) => sum + one.queries, 0);
    const what = `conversation ${branch.conversationId} "${visibleText(branch.title)}" ` +
      `(${counted(queries, "request")}, ${counted(branches.length, "branch")})`;
    if (!flags.yes) throw new UsageError(`Cannot delete ${what}: you cannot undo the deletion; confirm it with --yes`);
    await conversations.delete(branch);
    io.stderr(`Deleted ${what}${isPostgres(database) ? "" : "; vis db vacuum returns its space to the disk"}\n`);
    return 0;
  });
}

const ID_CHARS = 13;

function conversationLine(
  { conversationId, activeAt, queries, running, title, workspace }: {
    readonly conversationId: string;
    readonly activeAt: number;
    readonly queries: number;
    readonly running: boolean;
    readonly title: string;
    readonly workspace: string;
  },
  { io, now, here }: {
    readonly io: Pick<Io, "stdoutColor" | "columns">;
    readonly now: number;
    readonly here: boolean;
  },
): string {
  const color = pc.createColors(io.stdoutColor);
  const count = counted(queries, "request");
  const facts = `${ago(activeAt, now).padStart(10)}  ${count.padStart(12)}`;
  const folder = here || workspace === "" ? "" : visibleText(workspace.split("/").at(-1) ?? "");
  const room = io.columns() - ID_CHARS - facts.length - folder.length - (running ? 10 : 0) - 8;
  const shown = color.bold(visibleText(oneLine(title, Math.max(20, room))));
  return [
    color.cyan(conversationId.slice(0, ID_CHARS)),
    color.dim(facts),
    shown + (running ? color.yellow(" · running") : ""),
    ...(folder === "" ? [] : [color.dim(folder)]),
  ].join("  ");
}

export async function forkNumbers(
  conversations: Pick<Conversations, "queries">,
  branches: readonly BranchOfConversation[],
): Promise<ReadonlyMap<string, number>> {
  const parents = new Set(branches.map(({ parentBranchId }) => parentBranchId));
  const numbers = new Map<string, number>();
  for (const parent of branches.filter(({ branchId }) => parents.has(branchId))) {
    for (const [at, { queryId }] of (await conversations.queries(parent)).entries()) numbers.set(queryId, at + 1);
  }
  return numbers;
}

export function branchLines(
  branches: readonly BranchOfConversation[],
  { shown, lastUsed, numbers }: {
    readonly shown?: string;
    readonly lastUsed: string;
    readonly numbers: ReadonlyMap<string, number>;
  },
): readonly string[] {
  if (branches.length < 2) return [];
  const known = new Set(branches.map(({ branchId }) => branchId));
  const below = new Map<string | null, BranchOfConversation[]>();
  for (const branch of branches) {
    const parent = branch.parentBranchId !== null && known.has(branch.parentBranchId) ? branch.parentBranchId : null;
    below.set(parent, [...below.get(parent) ?? [], branch]);
  }
  const lines: string[] = [];
  const titles = new Map(branches.map(({ branchId, title }) => [branchId, title]));
  const walk = (parent: string | null, indent: string): void => {
    const list = below.get(parent) ?? [];
    for (const [at, branch] of list.entries()) {
      const last = at === list.length - 1;
      const marks = [
        ...(branch.branchId === lastUsed ? ["used last"] : []),
        ...(branch.branchId === shown ? ["shown here"] : []),
      ];
      const count = counted(branch.queries, "request");
      const title = titles.get(parent ?? "") === branch.title ? [] : [oneLine(branch.title, 60)];
      const facts = [placeOf(branch, numbers), count, ...marks, ...title].join(" · ");
      lines.push(`${indent}${last ? "└" : "├"} ${branch.branchId}  ${facts}`);
      walk(branch.branchId, `${indent}${last ? "  " : "│ "}`);
    }
  };
  walk(null, "");
  return lines;
}

/** A retry hides the earlier runs of a request, so an earlier run has no number. */
function placeOf({ fork }: BranchOfConversation, numbers: ReadonlyMap<string, number>): string {
  if (fork === null) return "first branch";
  const query = `request ${numbers.get(fork.queryId) ?? fork.queryId}`;
  return fork.position < 0 ? `from before ${query}` : `from step ${fork.position + 1} of ${query}`;
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
  const { ok, text } = blockEnd(block);
  const { output } = BlockTally.of(calls);
  return [
    ...quoted(code, `  ${at + 1}│ `),
    `  ${ok ? "✓" : "✗"} ${text} (${ms.toFixed(0)} ms)`,
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
