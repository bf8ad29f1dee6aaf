import { UsageError } from "../../../domain/errors.ts";
import { isPostgres } from "../../../domain/kit/addresses.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { StoredCommand } from "../input/command_input.ts";
import { forkPoint } from "../input/fork_at.ts";
import { printReport } from "../output/print_report.ts";
import { browse } from "./browse.ts";

/** `vis conversations fork`: a new branch; its id goes to stdout. */
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

/** `vis conversations rename`: the branch of the id, or the newest branch of a conversation. */
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

/** `vis conversations delete`: all branches of a conversation. Does nothing without `yes`. */
export async function deleteConversation(
  id: string,
  { services, io, flags }: StoredCommand<{ readonly yes: boolean }>,
): Promise<number> {
  return await browse({ services, flags }, async ({ conversations, database }) => {
    const branch = await conversations.byId(id);
    const branches = await conversations.branches(branch.conversationId);
    const queries = branches.reduce((sum, one) => sum + one.queries, 0);
    const what = `conversation ${branch.conversationId} "${visibleText(branch.title)}": ` +
      `${queries} ${queries === 1 ? "request" : "requests"}, ${branches.length} ${
        branches.length === 1 ? "branch" : "branches"
      }`;
    if (!flags.yes) throw new UsageError(`Cannot delete ${what}: deletion cannot be undone; confirm it with --yes`);
    await conversations.delete(branch);
    // A server frees space by itself.
    io.stderr(`Deleted ${what}${isPostgres(database) ? "" : " (vis db vacuum returns its space to the disk)"}\n`);
    return 0;
  });
}
