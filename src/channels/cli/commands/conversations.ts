import pc from "picocolors";
import { type BranchOfConversation, forkNumbers } from "../../../conversation/conversations.ts";
import { UsageError } from "../../../domain/errors.ts";
import { isPostgres } from "../../../domain/kit/addresses.ts";
import { ago, counted, localTime, oneLine, shorten, visibleText } from "../../../domain/kit/text.ts";
import type { Io } from "../../channel.ts";
import { jsonText, printReport } from "../output.ts";
import { browse, type CommandInput, forkPoint, type StoredCommand } from "../program/command.ts";

export interface ConversationsFlags {
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
      ({ conversationId, title, workspace, queries, running, asks, createdAt, activeAt, branches }) => {
        const facts = { conversationId, title, workspace, queries, running, asks, createdAt, activeAt };
        return { ...facts, branches: branches.map(branchFacts) };
      },
    );
    io.stdout(jsonText(listed, { indent: 2 }));
    return 0;
  }
  for (const one of found) {
    const { conversationId, activeAt, queries, title, workspace, branches, numbers } = one;
    if (io.stdoutIsTerminal) {
      io.stdout(`${conversationLine(one, { io, now: Date.now(), here: flags.here === true })}\n`);
      const fit = { width: io.columns() - 2, conversationId };
      for (const line of branchLines(branches, { lastUsed: one.branchId, numbers, fit })) {
        io.stdout(`  ${visibleText(line)}\n`);
      }
      continue;
    }
    const when = localTime(activeAt);
    const count = counted(queries, "request");
    const named = `${oneLine(title, 80)}${stateOf(one)}`;
    const folder = flags.here || workspace === "" ? "" : `  ${workspace}`;
    io.stdout(`${visibleText(`${conversationId}  ${when}  ${count.padStart(12)}  ${named}${folder}`)}\n`);
    for (const line of branchLines(branches, { lastUsed: one.branchId, numbers })) {
      io.stdout(`  ${visibleText(line)}\n`);
    }
  }
  if (found.length === 0) io.stderr(flags.here ? "No conversations in this workspace\n" : "No conversations yet\n");
  return 0;
}

export function branchFacts(
  { branchId, parentBranchId, fork, title, queries, createdAt }: BranchOfConversation,
): object {
  return { branchId, parentBranchId, fork, title, queries, createdAt };
}

export async function forkConversation(
  id: string,
  { services, io, flags }: StoredCommand<{ readonly at?: string | undefined; readonly json?: boolean }>,
): Promise<number> {
  const place = flags.at === undefined ? id : `${id}@${flags.at}`;
  const made = await browse({ services, flags }, async ({ conversations }) => {
    return await conversations.fork((await forkPoint(conversations, place)).point);
  });
  const { conversationId, branchId } = made;
  if (!flags.json) {
    io.stderr(`Files stay as they are. Continue the branch with: vis run --conversation ${branchId} "…"\n`);
  }
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
    if (!flags.yes) {
      throw new UsageError(
        `Cannot delete ${what}: --yes is missing; add it to confirm, because you cannot undo the deletion`,
      );
    }
    await conversations.delete(branch);
    io.stderr(`Deleted ${what}${isPostgres(database) ? "" : "; vis db vacuum returns its space to the disk"}\n`);
    return 0;
  });
}

function stateOf({ running, asks }: { readonly running: boolean; readonly asks: boolean }): string {
  return asks ? " · waiting for you" : running ? " · running" : "";
}

const ID_CHARS = 13, TITLE_CHARS = 60, FEWEST_CHARS = 10;

function conversationLine(
  { conversationId, activeAt, queries, running, asks, title, workspace }: {
    readonly conversationId: string;
    readonly activeAt: number;
    readonly queries: number;
    readonly running: boolean;
    readonly asks: boolean;
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
  const state = stateOf({ running, asks });
  const room = io.columns() - ID_CHARS - facts.length - folder.length - state.length - 8;
  const shown = color.bold(visibleText(oneLine(title, Math.max(20, room))));
  return [
    color.cyan(conversationId.slice(0, ID_CHARS)),
    color.dim(facts),
    shown + color.yellow(state),
    ...(folder === "" ? [] : [color.dim(folder)]),
  ].join("  ");
}

export function branchLines(
  branches: readonly BranchOfConversation[],
  { shown, lastUsed, numbers, fit }: {
    readonly shown?: string;
    readonly lastUsed: string;
    readonly numbers: ReadonlyMap<string, number>;
    readonly fit?: { readonly width: number; readonly conversationId: string };
  },
): readonly string[] {
  if (branches.length < 2) return [];
  const ids = fit ? beginnings([fit.conversationId, ...branches.map(({ branchId }) => branchId)]) : null;
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
      const facts = [placeOf(branch, numbers), count, ...marks].join(" · ");
      const line = `${indent}${last ? "└" : "├"} ${ids?.get(branch.branchId) ?? branch.branchId}  ${facts}`;
      const room = fit ? Math.min(TITLE_CHARS, fit.width - line.length - 3) : TITLE_CHARS;
      const isTitled = titles.get(parent ?? "") !== branch.title && room >= FEWEST_CHARS;
      lines.push(isTitled ? `${line} · ${oneLine(branch.title, room)}` : shorten(line, fit?.width ?? Infinity));
      walk(branch.branchId, `${indent}${last ? "  " : "│ "}`);
    }
  };
  walk(null, "");
  return lines;
}

/** Ids of the same millisecond have the same first characters. */
function beginnings(ids: readonly string[]): ReadonlyMap<string, string> {
  const all = [...new Set(ids)];
  const chars = [ID_CHARS, 18, 23].find((some) => new Set(all.map((id) => id.slice(0, some))).size === all.length);
  return new Map(all.map((id) => [id, id.slice(0, chars)]));
}

/** A retry hides the earlier runs of a request, so an earlier run has no number. */
function placeOf({ fork }: BranchOfConversation, numbers: ReadonlyMap<string, number>): string {
  if (fork === null) return "first branch";
  const query = `request ${numbers.get(fork.queryId) ?? fork.queryId}`;
  return fork.position < 0 ? `from before ${query}` : `from step ${fork.position + 1} of ${query}`;
}
