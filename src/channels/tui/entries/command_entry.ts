import { messageOf } from "../../../domain/errors.ts";
import { counted, terminalText, visibleText } from "../../../domain/kit/text.ts";
import { wrapped } from "../text/wrapped.ts";
import { type DisplayOptions, DrawnEntry } from "./entry.ts";

const LAST_LINES = 20;

export class CommandEntry extends DrawnEntry {
  #command: string;
  readonly #shown: () => DisplayOptions;
  #output = "";
  #end = "";

  constructor(command: string, shown: () => DisplayOptions) {
    super();
    this.#command = command;
    this.#shown = shown;
  }

  show(output: string, { command = this.#command, end = "" } = {}): void {
    this.#command = command;
    this.#output = output;
    this.#end = end;
    super.invalidate();
  }

  protected draw(width: number): readonly string[] {
    const { theme, whole } = this.#shown();
    const lines = visibleText(terminalText(this.#output).trimEnd()).split("\n");
    const left = whole ? 0 : Math.max(0, lines.length - LAST_LINES);
    return [
      ...wrapped(`$ ${visibleText(this.#command)}`, width).map(theme.bold),
      ...(left > 0 ? [theme.dim(`… ${counted(left, "earlier line")} (Ctrl-O)`)] : []),
      ...(this.#output === "" ? [] : wrapped(lines.slice(left).join("\n"), width)),
      ...(this.#end === "" ? [] : wrapped(this.#end, width).map(theme.dim)),
      "",
    ];
  }
}

export class OlderCommandEntry extends CommandEntry {
  readonly #name: string;
  readonly #read: (name: string) => Promise<unknown>;
  readonly #redraw: () => void;
  #asked = false;

  constructor(
    name: string,
    { shown, read, redraw }: {
      readonly shown: () => DisplayOptions;
      readonly read: (name: string) => Promise<unknown>;
      readonly redraw: () => void;
    },
  ) {
    super("…", shown);
    this.#name = name;
    this.#read = read;
    this.#redraw = redraw;
  }

  seen(): void {
    if (this.#asked) return;
    this.#asked = true;
    void this.#read(this.#name).then((text) => {
      const [, command = "…", output = ""] = /^\$ ([^\n]*)\n?([^]*)/.exec(String(text ?? "")) ?? [];
      this.show(output, { command, end: `The request could read this as ${this.#name}` });
    }, (error: unknown) => this.show("", { end: messageOf(error) })).then(this.#redraw);
  }
}
