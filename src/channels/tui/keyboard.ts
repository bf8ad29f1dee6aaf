import {
  isKeyRelease,
  type Keybinding,
  KeybindingsManager,
  type KeyId,
  matchesKey,
  TUI_KEYBINDINGS,
} from "@earendil-works/pi-tui";
import { oneLine } from "../../domain/kit/text.ts";
import type { ChatController } from "./chat.ts";
import type { Transcript } from "./entries/transcript.ts";
import type { InputBox } from "./input/input_box.ts";
import type { PaletteCommand } from "./panels/palette.ts";
import type { Questions } from "./panels/approval_panel.ts";
import type { Panel } from "./panels/panel.ts";

const TWICE_MS = 2_000;
const WHEEL_ROWS = 3;

interface KeyboardParts {
  readonly chat: ChatController;
  readonly cancelCommand: () => boolean;
  readonly input: InputBox;
  readonly transcript: Transcript;
  readonly commands: () => readonly PaletteCommand[];
  readonly panel: () => Panel | null;
  readonly questions: Pick<Questions, "panel" | "turn" | "takes" | "refuse">;
  readonly keys: () => Readonly<Record<string, string>>;
  readonly tell: (text: string) => void;
  readonly quit: () => void;
  readonly leave: () => void;
  readonly unfinished: () => string;
  readonly redraw: () => void;
  readonly attach: () => void;
  readonly edit: () => void;
  readonly suspend: () => void;
}

export class Keyboard {
  readonly #parts: KeyboardParts;
  #interrupted = -Infinity;
  #escaped = -Infinity;
  #prefix = false;

  constructor(parts: KeyboardParts) {
    this.#parts = parts;
  }

  key(data: string): void {
    if (isKeyRelease(data)) return;
    const { chat, input, transcript, panel, tell, questions } = this.#parts;
    tell("");
    const open = panel();
    if (open === null && questions.takes(data)) return;
    if (matchesKey(data, "ctrl+g") && questions.turn()) return;
    if (open !== null) return open.handleInput(data);
    if (matchesKey(data, "ctrl+v")) return this.#parts.attach();
    if (input.modal(data)) return;
    const prefixed = this.#prefix;
    this.#prefix = matchesKey(data, "ctrl+x");
    if (this.#prefix) return tell("Ctrl-E edits the text in your editor");
    if (prefixed && matchesKey(data, "ctrl+e")) return this.#parts.edit();
    const action = keyAction(data, {
      empty: input.empty,
      choosing: input.choosing,
      waiting: chat.waiting.some(({ isOwn }) => isOwn),
      following: transcript.following,
    }, this.#parts.keys());
    if (action !== "interrupt") this.#interrupted = -Infinity;
    if (action !== "escape") this.#escaped = -Infinity;
    if (action === null) input.key(data);
    else this.#act(action);
  }

  wheel(direction: number): void {
    const open = this.#parts.panel();
    if (open === null) return this.#parts.transcript.scroll(direction * WHEEL_ROWS);
    for (let n = 0; n < WHEEL_ROWS; n++) open.handleInput(direction < 0 ? "\x1b[A" : "\x1b[B");
  }

  #act(action: KeyAction): void {
    const { transcript, redraw, quit, suspend } = this.#parts;
    const acts: Partial<Record<KeyAction, () => void>> = {
      interrupt: () => this.#interrupt(),
      escape: () => this.#escape(),
      takeBack: () => this.#takeBack(),
      pageUp: () => transcript.page(-1),
      pageDown: () => transcript.page(1),
      lineUp: () => transcript.scroll(-1),
      lineDown: () => transcript.scroll(1),
      back: () => transcript.jump(-1),
      forth: () => transcript.jump(1),
      planMode: () => this.#parts.input.togglePlan(),
      start: () => transcript.toStart(),
      end: () => transcript.toEnd(),
      ...{ redraw, quit, suspend },
    };
    const own = acts[action];
    if (own) own();
    else this.#run(action);
  }

  #run(command: string): void {
    void this.#parts.commands().find(({ name }) => name === command)?.run("");
  }

  #escape(): void {
    const { questions, input, chat, cancelCommand } = this.#parts;
    if (questions.panel !== null && !input.empty) {
      questions.refuse();
      return input.key("\r");
    }
    if (!cancelCommand() && !chat.cancel() && input.empty && chat.branch !== null) this.#goBack();
  }

  #goBack(): void {
    const now = performance.now();
    const isSecond = now - this.#escaped < TWICE_MS;
    this.#escaped = isSecond ? -Infinity : now;
    if (isSecond) return this.#run("rewind");
    this.#parts.tell("Esc again goes back to an earlier request");
  }

  #interrupt(): void {
    const { chat, input, tell, leave, unfinished } = this.#parts;
    const now = performance.now();
    if (now - this.#interrupted < TWICE_MS) return leave();
    this.#interrupted = now;
    let done = "";
    if (!input.empty) input.clear();
    else if (this.#parts.cancelCommand()) done = "Ending the command; ";
    else chat.cancel();
    const left = unfinished();
    tell(`${done}Ctrl-C again ${left === "" ? "quits" : `ends ${left}, and quits`}`);
  }

  #takeBack(): void {
    const back = this.#parts.chat.takeBack();
    if (back !== null) this.#parts.input.giveBack(back);
  }
}

interface Where {
  readonly empty: boolean;
  readonly choosing: boolean;
  readonly waiting: boolean;
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
  rule("alt+up", "back"),
  rule("alt+down", "forth"),
  rule("ctrl+home", "start"),
  rule("ctrl+end", "end"),
  rule("end", "end", ({ empty, following }) => empty && !following),
  rule("shift+tab", "planMode", ({ choosing }) => !choosing),
  rule("ctrl+o", "expand"),
  rule("ctrl+t", "todo"),
  rule("alt+t", "thinking"),
  rule("ctrl+y", "copy", ({ empty }) => empty),
  rule("alt+r", "retry", ({ empty }) => empty),
  rule("alt+m", "more", ({ empty }) => empty),
  rule("ctrl+r", "inputs"),
  rule("ctrl+l", "redraw"),
  rule("ctrl+z", "suspend"),
];

function pressed(data: string, key: string): boolean {
  return key.length === 1 ? data === key : matchesKey(data, key as KeyId);
}

export type KeyAction = typeof RULES[number]["action"];

const KEY_NAMES =
  "[a-z0-9`\\-=[\\]\\\\;',./!@#$%^&*()_|~{}:<>?]|enter|return|tab|space|backspace|delete|insert|clear|home|end|" +
  "pageup|pagedown|up|down|left|right";
const KEY = new RegExp(`^(?:.|f[1-9]|f1[0-2]|esc|escape|(?:(?:ctrl|shift|alt|super)\\+)*(?:${KEY_NAMES}))$`, "i");

/** The screen reads these keys before the keys of actions. */
const FIXED = /^ctrl\+[vx]$/i;

type OwnKeys = Readonly<Record<string, string>>;

/** With a wrong entry, the action keeps its usual key. */
export function readKeys(kept: OwnKeys): { readonly keys: OwnKeys; readonly faults: readonly string[] } {
  const actions = new Set<string>(RULES.map(({ action }) => action));
  const keys: Record<string, string> = {}, faults: string[] = [];
  for (const [action, key] of Object.entries(kept)) {
    const shown = oneLine(action, 40);
    if (!actions.has(action)) {
      const known = [...actions].join(", ");
      faults.push(`Cannot use the key of ${shown} in tui.json: Vis has no such action; choose one of ${known}`);
    } else if (!KEY.test(key)) {
      const named = oneLine(key, 40) || '""';
      faults.push(
        `Cannot use the key of ${shown} in tui.json: ${named} is not the name of a key; write one such as ctrl+p, alt+up, pageUp or f2`,
      );
    } else if (FIXED.test(key)) {
      faults.push(`Cannot use the key of ${shown} in tui.json: ${key} has a fixed action; choose another key`);
    } else keys[action] = key;
  }
  return { keys, faults };
}

/** Returns "" if the user gave the usual key of the action to another action. */
export function shownKey(action: KeyAction, own: OwnKeys): string {
  const mapped = own[action];
  if (mapped !== undefined) return keyLabel(mapped);
  const usual = keyLabel(RULES.find((one) => one.action === action)?.key ?? "");
  return Object.values(own).some((key) => keyLabel(key) === usual) ? "" : usual;
}

const SHORT: Readonly<Record<string, string>> = { pageup: "PgUp", pagedown: "PgDn", escape: "Esc" };

export function keyLabel(key: string): string {
  const labels = key.split(/\+(?!$)/).map((part) =>
    SHORT[part.toLowerCase()] ?? part.charAt(0).toUpperCase() + part.slice(1)
  );
  return labels.join("-");
}

export function keyAction(data: string, where: Where, own: OwnKeys = {}): KeyAction | null {
  const hits = RULES.filter(({ key, action, when }) => pressed(data, own[action] ?? key) && when(where));
  return (hits.find(({ action }) => own[action] !== undefined) ?? hits[0])?.action ?? null;
}

/** The input or the screen uses these keys, so the terminal package must not. */
const FREED: readonly Keybinding[] = [
  "tui.altScreen.pageUp",
  "tui.altScreen.pageDown",
  "tui.altScreen.previousPrompt",
  "tui.altScreen.nextPrompt",
  "tui.altScreen.search",
  "tui.altScreen.searchNext",
  "tui.altScreen.searchPrevious",
  "tui.altScreen.searchClose",
  "tui.altScreen.top",
  "tui.altScreen.bottom",
  "tui.editor.pageUp",
  "tui.editor.pageDown",
];

export function freshKeys(): KeybindingsManager {
  return new KeybindingsManager(TUI_KEYBINDINGS, Object.fromEntries(FREED.map((name) => [name, []])));
}
