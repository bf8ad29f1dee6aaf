import { visibleText } from "../../../domain/kit/text.ts";
import { wrapped } from "../text/wrapped.ts";
import { DrawnEntry } from "./drawn_entry.ts";
import type { DisplayOptions } from "./shown.ts";

const LAST_LINES = 20;

/** A command of the user with its output so far. */
export class CommandEntry extends DrawnEntry {
  readonly #command: string;
  readonly #shown: () => DisplayOptions;
  #output = "";
  #end = "";

  constructor(command: string, shown: () => DisplayOptions) {
    super();
    this.#command = command;
    this.#shown = shown;
  }

  show(output: string, end = ""): void {
    this.#output = output;
    this.#end = end;
    super.invalidate();
  }

  protected draw(width: number): readonly string[] {
    const { theme, whole } = this.#shown();
    const lines = visibleText(this.#output.replace(/\r\n?/g, "\n").trimEnd()).split("\n");
    const left = whole ? 0 : Math.max(0, lines.length - LAST_LINES);
    return [
      ...wrapped(`$ ${visibleText(this.#command)}`, width).map(theme.bold),
      ...(left > 0 ? [theme.dim(`… ${left} earlier lines (Ctrl-O shows them)`)] : []),
      ...(this.#output === "" ? [] : wrapped(lines.slice(left).join("\n"), width)),
      ...(this.#end === "" ? [] : wrapped(this.#end, width).map(theme.dim)),
      "",
    ];
  }
}
