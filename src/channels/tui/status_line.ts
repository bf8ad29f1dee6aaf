import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { oneLine, visibleText } from "../../domain/kit/text.ts";
import type { Theme } from "./text/theme.ts";

export interface StatusFacts {
  /** What is happening; "" for nothing. */
  readonly phase: string;
  /** Of the running query. */
  readonly ms: number;
  /** A message shown until the next key; "" for none. */
  readonly told: string;
  /** Whether the end of the conversation is visible. */
  readonly following: boolean;
  readonly title: string;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** The line above the input. */
export function statusLine(
  { phase, ms, told, following, title }: StatusFacts,
  { width, theme }: { readonly width: number; readonly theme: Theme },
): string {
  const right = following ? "" : "↓ End";
  const room = Math.max(0, width - visibleWidth(right) - 2);
  const left = ` ${leftOf({ phase, ms, told, title }, { room: room - 1, theme })}`;
  return left + " ".repeat(Math.max(1, width - visibleWidth(left) - visibleWidth(right) - 1)) + theme.accent(right);
}

function leftOf(
  { phase, ms, told, title }: Omit<StatusFacts, "following">,
  { room, theme }: { readonly room: number; readonly theme: Theme },
): string {
  const cut = (text: string): string => truncateToWidth(oneLine(visibleText(text), 400), room, "…");
  if (told !== "") return theme.warn(cut(told));
  if (phase === "") return theme.dim(cut(title));
  const frame = FRAMES[Math.floor(ms / 250) % FRAMES.length] ?? "";
  return `${theme.accent(frame)} ${theme.dim(cut(`${phase} · ${Math.floor(ms / 1_000)} s · Esc cancels`))}`;
}
