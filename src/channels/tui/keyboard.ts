import { isKeyRelease, matchesKey } from "@earendil-works/pi-tui";
import type { ChatController } from "./chat.ts";
import type { PaletteCommand } from "./input/command.ts";
import type { InputBox } from "./input/input_box.ts";
import { type KeyAction, keyAction } from "./key_action.ts";
import type { Panel } from "./widgets/panel.ts";
import type { Transcript } from "./entries/transcript.ts";

const TWICE_MS = 2_000;
const WHEEL_ROWS = 3;

interface KeyboardParts {
  readonly chat: ChatController;
  /** Ends the command that the user runs; false if there is none. */
  readonly cancelCommand: () => boolean;
  readonly input: InputBox;
  readonly transcript: Transcript;
  readonly commands: () => readonly PaletteCommand[];
  /** The open panel. */
  readonly panel: () => Panel | null;
  /** Gives the keyboard to a question that waits, or takes it back; false if there is none. */
  readonly answer: () => boolean;
  /** The user's own keys. */
  readonly keys: () => Readonly<Record<string, string>>;
  readonly tell: (text: string) => void;
  readonly quit: () => void;
  /** Redraws everything. */
  readonly redraw: () => void;
  /** Suspends the program and returns to the shell. */
  readonly suspend: () => void;
}

/** Actions of keys and the wheel. */
export class Keyboard {
  readonly #parts: KeyboardParts;
  #interrupted = -Infinity;

  constructor(parts: KeyboardParts) {
    this.#parts = parts;
  }

  key(data: string): void {
    if (isKeyRelease(data)) return;
    const { chat, input, transcript, panel, tell } = this.#parts;
    tell("");
    if (matchesKey(data, "ctrl+g") && this.#parts.answer()) return;
    const open = panel();
    if (open !== null) return open.handleInput(data);
    const action = keyAction(data, {
      empty: input.empty,
      choosing: input.choosing,
      waiting: chat.waiting.length > 0,
      following: transcript.following,
    }, this.#parts.keys());
    if (action !== "interrupt") this.#interrupted = -Infinity;
    if (action === null) input.key(data);
    else this.#act(action);
  }

  /** Negative scrolls up. */
  wheel(direction: number): void {
    const open = this.#parts.panel();
    if (open === null) return this.#parts.transcript.scroll(direction * WHEEL_ROWS);
    for (let n = 0; n < WHEEL_ROWS; n++) open.handleInput(direction < 0 ? "\x1b[A" : "\x1b[B");
  }

  #act(action: KeyAction): void {
    const { chat, transcript, redraw, quit, suspend, commands } = this.#parts;
    const acts: Partial<Record<KeyAction, () => void>> = {
      interrupt: () => this.#interrupt(),
      escape: () => void (this.#parts.cancelCommand() || chat.cancel()),
      takeBack: () => this.#takeBack(),
      pageUp: () => transcript.page(-1),
      pageDown: () => transcript.page(1),
      lineUp: () => transcript.scroll(-1),
      lineDown: () => transcript.scroll(1),
      start: () => transcript.toStart(),
      end: () => transcript.toEnd(),
      ...{ redraw, quit, suspend },
    };
    const own = acts[action];
    if (own) own();
    else void commands().find(({ name }) => name === action)?.run("");
  }

  /** Ctrl-C clears the input or cancels what is running; pressed twice, it quits. */
  #interrupt(): void {
    const { chat, input, tell, quit } = this.#parts;
    const now = performance.now();
    if (now - this.#interrupted < TWICE_MS) return quit();
    this.#interrupted = now;
    if (!input.empty) input.clear();
    else if (!this.#parts.cancelCommand()) chat.cancel();
    tell("Ctrl-C again quits");
  }

  #takeBack(): void {
    const back = this.#parts.chat.takeBack();
    if (back !== null) this.#parts.input.giveBack(back);
  }
}
