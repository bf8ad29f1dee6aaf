import pc from "picocolors";
import { ago, oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { Io } from "../../channel.ts";

/** Enough of an id to find a conversation again. */
const ID_CHARS = 13;

/** A conversation in a list on a terminal: short id, age, requests, title and, unless only one is listed, its folder. */
export function conversationLine(
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
  const count = `${queries} ${queries === 1 ? "request" : "requests"}`;
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
