import { decodeKittyPrintable, matchesKey } from "@earendil-works/pi-tui";

const LEFT = "\x1b[D", RIGHT = "\x1b[C", UP = "\x1b[A", DOWN = "\x1b[B", DELETE = "\x1b[3~", BACK = "\x7f";
const START = "\x01", END = "\x05", WORD = "\x1bf", WORD_BACK = "\x1bb", CUT_WORD = "\x1bd", CUT_END = "\x0b";
const LINE = "\n", UNDO = "\x1f", YANK = "\x19";

interface Command {
  readonly keys: readonly string[];
  readonly inserts?: boolean;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  h: { keys: [LEFT] },
  l: { keys: [RIGHT] },
  j: { keys: [DOWN] },
  k: { keys: [UP] },
  0: { keys: [START] },
  "^": { keys: [START] },
  $: { keys: [END] },
  w: { keys: [WORD, RIGHT] },
  e: { keys: [WORD] },
  b: { keys: [WORD_BACK] },
  x: { keys: [DELETE] },
  X: { keys: [BACK] },
  D: { keys: [CUT_END] },
  C: { keys: [CUT_END], inserts: true },
  dd: { keys: [START, CUT_END, DELETE] },
  dw: { keys: [CUT_WORD, DELETE] },
  cc: { keys: [START, CUT_END], inserts: true },
  cw: { keys: [CUT_WORD], inserts: true },
  i: { keys: [], inserts: true },
  a: { keys: [RIGHT], inserts: true },
  I: { keys: [START], inserts: true },
  A: { keys: [END], inserts: true },
  o: { keys: [END, LINE], inserts: true },
  O: { keys: [START, LINE, UP], inserts: true },
  u: { keys: [UNDO] },
  p: { keys: [YANK] },
};

export class VimKeys {
  normal = false;
  #begun = "";

  keys(data: string): readonly string[] | null {
    if (!this.normal) {
      if (!matchesKey(data, "escape")) return null;
      this.normal = true;
      return [];
    }
    const typed = decodeKittyPrintable(data) ?? data;
    if (!/^[\x20-\x7e]$/.test(typed)) return null;
    const name = this.#begun + typed;
    this.#begun = name === "d" || name === "c" ? name : "";
    const command = COMMANDS[name];
    if (command?.inserts) this.normal = false;
    return command?.keys ?? [];
  }
}
