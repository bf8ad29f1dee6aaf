import type { Session } from "../channel.ts";
import { DrawnEntry } from "./entries/drawn_entry.ts";
import type { DisplayOptions } from "./entries/shown.ts";
import { wrapped } from "./text/wrapped.ts";

const HINTS = [
  "Ask for anything in this folder, such as: What does this project do?",
  "/ lists the commands, @ names a file, ! runs a command, ? shows all keys.",
  "Esc stops a request, Ctrl-D quits; vis -c continues here later.",
];

/** What a new conversation shows before its first request. */
export class Greeting extends DrawnEntry {
  readonly #parts: { readonly session: () => Pick<Session, "provider">; readonly shown: () => DisplayOptions };

  constructor(parts: { readonly session: () => Pick<Session, "provider">; readonly shown: () => DisplayOptions }) {
    super();
    this.#parts = parts;
  }

  protected draw(width: number): readonly string[] {
    const { theme } = this.#parts.shown();
    const { provider } = this.#parts.session();
    const hints = HINTS.flatMap((hint) => wrapped(hint, Math.max(1, width - 2)));
    const demo = provider === "demo"
      ? wrapped("This is the demo: scripted replies, no model. vis auth login adds one.", Math.max(1, width - 2))
      : [];
    return [
      ` ${theme.accent(theme.bold("vis"))}`,
      ...hints.map((line) => ` ${theme.dim(line)}`),
      ...demo.map((line) => ` ${theme.warn(line)}`),
      "",
    ];
  }
}
