import { type Conversation as Branch, nothingToContinue } from "../../conversation/conversations.ts";
import { shellText } from "../../domain/kit/text.ts";
import type { Io, ScreenRequest, Session } from "../channel.ts";
import { Screen, type ScreenParts } from "./screen.ts";
import { watchEnd } from "./terminal.ts";

/** These sequences restore the terminal for the shell if the program ends without its normal exit. */
const RESTORE =
  "\x1b[23;0t\x1b[?1006l\x1b[?1004l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[0m\x1b[?25h";

/** Restores the terminal before the promise settles. */
export async function runScreen(
  parts: Omit<ScreenParts, "terminal"> & {
    readonly terminal: (gone: () => void) => ScreenParts["terminal"];
    readonly io: Pick<Io, "stdout">;
  },
  { session, place }: {
    readonly session: Session;
    readonly place: Pick<ScreenRequest, "continue" | "conversation" | "request" | "addDir" | "cwd">;
  },
): Promise<number> {
  const notes: string[] = [];
  const branch = await branchOf(
    { ...session, isChosen: place.cwd !== undefined, note: (text) => notes.push(text) },
    place,
  );
  const ended = Promise.withResolvers<number>();
  const screen = new Screen({ ...parts, terminal: parts.terminal(() => ended.resolve(129)) }, session);
  const unwatch = watchEnd({
    signal: (code) => ended.resolve(code),
    defect: (error) => ended.reject(error),
    last: () => parts.io.stdout(RESTORE),
  });
  const code = { value: 1 };
  try {
    if (place.continue && branch === null) notes.push(await nothingToContinue(session));
    await screen.start({ branch, notes: [...notes, ...session.notes ?? []], request: place.request });
    void screen.done.then(() => ended.resolve(0));
    code.value = await ended.promise;
  } finally {
    screen.stop();
    if (code.value !== 129) parts.io.stdout(await farewell(screen.session, { branch: screen.chat.branch, ...place }));
    try {
      await screen.ended();
      await screen.session.close();
    } finally {
      unwatch(); // A second SIGHUP must not end the process before Vis has closed the store.
    }
  }
  return code.value;
}

async function branchOf(
  place: Pick<Session, "conversations" | "workspace"> & {
    readonly isChosen: boolean;
    readonly note: (text: string) => void;
  },
  { continue: newest, conversation }: Pick<ScreenRequest, "continue" | "conversation">,
): Promise<Branch | null> {
  const { conversations, workspace } = place;
  if (conversation !== undefined) {
    return await conversations.records.follow(await conversations.byId(conversation), place);
  }
  return newest ? await conversations.latest(workspace) : null;
}

async function farewell(
  { conversations }: Session,
  { branch, addDir = [] }: Pick<ScreenRequest, "addDir"> & { readonly branch: Branch | null },
): Promise<string> {
  if (branch === null) return "";
  const { conversationId, branchId } = branch;
  // The id of a conversation means its last used branch.
  const lastUsed = await conversations.byId(conversationId).catch(() => branch);
  const id = lastUsed.branchId === branchId ? conversationId.slice(0, 13) : branchId;
  const folders = addDir.flatMap((folder) => ["--add-dir", folder]);
  return `Resume with: ${shellText(["vis", "--conversation", id, ...folders])}\n`;
}
