import { type KeyId, matchesKey } from "@earendil-works/pi-tui";

/** What a key does on the screen itself; all other keys go to the input. */
export type KeyAction =
  | "palette"
  | "inspect"
  | "interrupt"
  | "quit"
  | "escape"
  | "takeBack"
  | "pageUp"
  | "pageDown"
  | "lineUp"
  | "lineDown"
  | "start"
  | "end"
  | "whole"
  | "thinking"
  | "copy"
  | "retry"
  | "redraw"
  | "suspend";

interface Where {
  /** The input is empty. */
  readonly empty: boolean;
  /** The input offers completions. */
  readonly choosing: boolean;
  /** A message is queued. */
  readonly waiting: boolean;
  /** The end of the conversation is visible. */
  readonly following: boolean;
}

type Rule = readonly [key: KeyId | "?", action: KeyAction, when?: (where: Where) => boolean];

const RULES: readonly Rule[] = [
  ["ctrl+k", "palette"],
  ["?", "inspect", ({ empty }) => empty],
  ["ctrl+c", "interrupt"],
  ["ctrl+d", "quit", ({ empty }) => empty],
  ["escape", "escape", ({ choosing }) => !choosing],
  ["up", "takeBack", ({ empty, waiting }) => empty && waiting],
  ["pageUp", "pageUp"],
  ["pageDown", "pageDown"],
  ["shift+up", "lineUp"],
  ["shift+down", "lineDown"],
  ["ctrl+home", "start"],
  ["ctrl+end", "end"],
  ["end", "end", ({ empty, following }) => empty && !following],
  ["ctrl+o", "whole"],
  ["ctrl+t", "thinking"],
  ["ctrl+y", "copy", ({ empty }) => empty],
  ["alt+r", "retry", ({ empty }) => empty],
  ["ctrl+l", "redraw"],
  ["ctrl+z", "suspend"],
];

export function keyAction(data: string, where: Where): KeyAction | null {
  const hit = RULES.find(([key, , when]) =>
    (key === "?" ? data === "?" : matchesKey(data, key)) && (when?.(where) ?? true)
  );
  return hit?.[1] ?? null;
}
