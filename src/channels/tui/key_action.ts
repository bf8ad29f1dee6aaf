import { type KeyId, matchesKey } from "@earendil-works/pi-tui";

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

function rule<A extends string>(key: KeyId | "?", action: A, when: (where: Where) => boolean = () => true) {
  return { key, action, when };
}

const RULES = [
  rule("ctrl+k", "palette"),
  rule("?", "help", ({ empty }) => empty),
  rule("alt+i", "inspect", ({ empty }) => empty),
  rule("ctrl+c", "interrupt"),
  rule("ctrl+d", "quit", ({ empty }) => empty),
  rule("escape", "escape", ({ choosing }) => !choosing),
  rule("up", "takeBack", ({ empty, waiting }) => empty && waiting),
  rule("pageUp", "pageUp"),
  rule("pageDown", "pageDown"),
  rule("shift+up", "lineUp"),
  rule("shift+down", "lineDown"),
  rule("ctrl+home", "start"),
  rule("ctrl+end", "end"),
  rule("end", "end", ({ empty, following }) => empty && !following),
  rule("ctrl+o", "expand"),
  rule("ctrl+t", "thinking"),
  rule("ctrl+y", "copy", ({ empty }) => empty),
  rule("alt+r", "retry", ({ empty }) => empty),
  rule("ctrl+l", "redraw"),
  rule("ctrl+z", "suspend"),
];

function pressed(data: string, key: string): boolean {
  return key.length === 1 ? data === key : matchesKey(data, key as KeyId);
}

/** What a key does on the screen itself; all other keys go to the input. */
export type KeyAction = typeof RULES[number]["action"];

/** `keys`: the user's own key for an action, in place of the usual one. */
export function keyAction(data: string, where: Where, keys: Readonly<Record<string, string>> = {}): KeyAction | null {
  const hit = RULES.find(({ key, action, when }) => pressed(data, keys[action] ?? key) && when(where));
  return hit?.action ?? null;
}
