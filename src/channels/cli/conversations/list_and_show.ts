import type { BranchOfConversation } from "../../../conversation/conversations.ts";
import { UsageError } from "../../../domain/errors.ts";
import { localTime, oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { Recording } from "../../../domain/records/recording.ts";
import type { CommandInput } from "../input/command_input.ts";
import { branchLines } from "../output/branch_lines.ts";
import { conversationLine } from "../output/conversation_line.ts";
import { conversationText } from "../output/conversation_text.ts";
import { jsonText } from "../output/json_text.ts";
import { printableQuery } from "../output/printable_query.ts";
import { browse } from "./browse.ts";

export interface ConversationsFlags {
  readonly output: "text" | "json";
  readonly db?: string | undefined;
}

/** `vis conversations list`: one line each, by newest query first. */
export async function printConversations(
  { services, io, flags }: CommandInput<ConversationsFlags & { readonly limit: number; readonly here?: boolean }>,
): Promise<number> {
  const found = await browse({ services, flags }, async ({ conversations, workspace }) => {
    const listed = await conversations.list({ limit: flags.limit, ...(flags.here ? { workspace } : {}) });
    return await Promise.all(listed.map(async (one) => ({
      ...one,
      branches: await conversations.branches(one.conversationId),
    })));
  });
  if (flags.output === "json") {
    const listed = found.map(({ conversationId, title, workspace, queries, running, createdAt, branches }) => {
      return { conversationId, title, workspace, queries, running, createdAt, branches: branches.map(branchFacts) };
    });
    io.stdout(jsonText(listed, { indent: 2 }));
    return 0;
  }
  for (const one of found) {
    const { conversationId, createdAt, queries, running, title, branches } = one;
    if (io.stdoutIsTerminal) {
      io.stdout(`${conversationLine(one, { io, now: Date.now(), here: flags.here === true })}\n`);
      for (const line of branchLines(branches)) io.stdout(`  ${visibleText(line)}\n`);
      continue;
    }
    const when = localTime(createdAt);
    const count = `${queries} ${queries === 1 ? "request" : "requests"}`;
    const named = `${oneLine(title, 80)}${running ? " · running" : ""}`;
    io.stdout(`${visibleText(`${conversationId}  ${when}  ${count.padStart(12)}  ${named}`)}\n`);
    for (const line of branchLines(branches)) io.stdout(`  ${visibleText(line)}\n`);
  }
  if (found.length === 0) io.stderr("No conversations yet\n");
  return 0;
}

/** `vis conversations show`: all of one conversation. */
export async function showConversation(
  id: string,
  { services, io, flags }: CommandInput<ConversationsFlags & { readonly query?: number | undefined }>,
): Promise<number> {
  const { whole, branches, shown } = await browse({ services, flags }, async ({ conversations }) => {
    const branch = await conversations.byId(id);
    const all = await conversations.branches(branch.conversationId);
    return { whole: await conversations.recording(branch), branches: all, shown: branch.branchId };
  });
  const recording = flags.query === undefined ? whole : only(whole, flags.query);
  if (flags.output === "json") {
    const facts = { ...printable(recording), branchId: shown, branches: branches.map(branchFacts) };
    io.stdout(jsonText(facts, { indent: 2 }));
  } else {
    const tree = branchLines(branches, { shown });
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
  throw new UsageError(`Cannot show request ${number}: the conversation has ${recording.queries.length}`);
}

/** The recording with byte counts instead of image data. */
function printable(recording: Recording): object {
  return { ...recording, queries: recording.queries.map(printableQuery) };
}
