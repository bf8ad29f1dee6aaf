/* The screen of a terminal. Read its files in this order:
 *
 *   run_screen.ts   `runScreen`: shows the screen until the user quits; this file is the entrance of the folder
 *   screen.ts       the whole screen, which has the parts below, and runs the actions of panels and commands
 *   chat.ts         the conversation on the screen: one query at a time, and waiting messages
 *   entries/        the parts of a conversation; `transcript.ts` draws the visible rows, `turn.ts` a running query
 *   input/          the text of the user: `input_box.ts` with pastes and images, completions, history, prompt files
 *   commands.ts     all actions with a name; `keyboard.ts` has their keys
 *   panels/         views over the messages: `panel.ts` is their base, `widgets.ts` and `reader.ts` their parts
 *
 * `frame.ts` combines the rows and decides when to draw them. `text/` has colours, wrapping and short forms. */

import { type Conversation as Branch, nothingToContinue } from "../../conversation/conversations.ts";
import type { Io, ScreenRequest, Session } from "../channel.ts";
import { Screen, type ScreenParts } from "./screen.ts";
import { watchEnd } from "./terminal.ts";

/** Restores the terminal for the shell if something interrupts the normal exit: mouse, bracketed paste, line wrapping,
 * screen, title and cursor. */
const RESTORE =
  "\x1b[23;0t\x1b[?1006l\x1b[?1004l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[0m\x1b[?25h";

/** Resolves with the exit code when the user quits. Rejects with `UsageError` if the conversation does not exist, and
 * with internal errors. Vis restores the terminal first. */
export async function runScreen(
  parts: Omit<ScreenParts, "terminal"> & {
    readonly terminal: (gone: () => void) => ScreenParts["terminal"];
    readonly io: Pick<Io, "stdout">;
  },
  { session, place }: {
    readonly session: Session;
    readonly place: Pick<ScreenRequest, "continue" | "conversation" | "request">;
  },
): Promise<number> {
  const branch = await branchOf(session, place);
  const ended = Promise.withResolvers<number>();
  const screen = new Screen({ ...parts, terminal: parts.terminal(() => ended.resolve(129)) }, session);
  const unwatch = watchEnd({
    signal: (code) => ended.resolve(code),
    defect: (error) => ended.reject(error),
    last: () => parts.io.stdout(RESTORE),
  });
  const code = { value: 1 };
  try {
    const notes = place.continue && branch === null ? [await nothingToContinue(session)] : [];
    await screen.start({ branch, notes: [...notes, ...session.notes ?? []], request: place.request });
    void screen.done.then(() => ended.resolve(0));
    code.value = await ended.promise;
  } finally {
    screen.stop();
    if (code.value !== 129) parts.io.stdout(await farewell(screen.session, screen.chat.branch));
    try {
      await screen.ended();
      await screen.session.close();
    } finally {
      unwatch(); // Until the store is closed, a second SIGHUP must not end the process.
    }
  }
  return code.value;
}

async function branchOf(
  { conversations, workspace }: Session,
  { continue: newest, conversation }: Pick<ScreenRequest, "continue" | "conversation">,
): Promise<Branch | null> {
  if (conversation !== undefined) return await conversations.byId(conversation);
  return newest ? await conversations.latest(workspace) : null;
}

async function farewell({ conversations }: Session, branch: Branch | null): Promise<string> {
  if (branch === null) return "";
  const { conversationId, branchId } = branch;
  // The id of the conversation means the branch that was used last.
  const lastUsed = await conversations.byId(conversationId).catch(() => branch);
  return `Resume with: vis --conversation ${lastUsed.branchId === branchId ? conversationId.slice(0, 13) : branchId}\n`;
}
