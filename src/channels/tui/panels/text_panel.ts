import { shownAnswer } from "../../../domain/query/outcomes.ts";
import type { Conversation } from "../../../conversation/conversations.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { Reader, type TextPart } from "./reader.ts";

/** A text to read and search, such as the help. */
export class TextPanel extends BasePanel {
  readonly title: string;
  readonly hint: string = "↑↓ PgUp PgDn · / find · Esc";
  override readonly rows = 200;
  readonly #reader: Reader;

  constructor(parts: PanelParts, { title, texts }: { readonly title: string; readonly texts: readonly TextPart[] }) {
    super(parts);
    this.title = title;
    this.#reader = new Reader(parts.theme);
    this.show(texts);
  }

  protected show(texts: readonly TextPart[]): void {
    this.#reader.text.show(texts);
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const status = this.status();
    if (status === "") return this.#reader.render(width, height);
    return [...this.#reader.render(width, height - 1), status];
  }

  protected override key(data: string): void {
    this.#reader.handle(data);
  }

  protected override back(): void {
    if (!this.#reader.back()) this.close();
  }

  protected override get clickable(): boolean {
    return false;
  }
}

/** Shows the output of an extension's command as it arrives. Esc ends the command. */
export class CommandPanel extends TextPanel {
  constructor(parts: PanelParts, args: readonly string[]) {
    super(parts, { title: `/${args.join(" ")}`, texts: [] });
    let output = "";
    const print = (text: string): void => {
      output += text;
      this.show([{ text: output }]);
      parts.act.redraw();
    };
    this.load("command", {
      work: async (signal) => await (await parts.extensions()).run(args, { print, signal }),
      then: (code) => {
        if (code === 0 ? output === "" : code !== null) print(code === 0 ? "(no output)" : `\nexit code ${code}`);
      },
    });
  }
}

/** A question beside the conversation: it changes nothing, and neither the question nor the answer is kept. */
export class SideQuestion extends TextPanel {
  constructor(parts: PanelParts, question: string) {
    super(parts, { title: "By the way", texts: [{ text: question, look: "dim" }] });
    this.load("answer", {
      work: (signal) => answered(question, signal, parts),
      then: (answer) => this.show([{ text: question, look: "dim" }, { text: `\n${answer}` }]),
    });
  }
}

async function answered(question: string, signal: AbortSignal, parts: PanelParts): Promise<string> {
  const { conversations, workspace } = parts.session();
  const branch = parts.branch();
  const own: { branch: Conversation | null } = { branch: null };
  await using about = branch && await conversations.exports.make(branch, { conversations, format: "md", signal });
  const pieces = about?.pieces();
  const label = "the conversation so far, as Markdown";
  try {
    const result = await conversations.ask({ channel: "tui", workspace }, question, {
      ...{ signal, emit: () => {}, only: "aside" },
      ...(pieces ? { variables: { conversation: { label, json: false, encoding: "utf-8", pieces } } } : {}),
      onBranch: (made) => void (own.branch = made),
    });
    return shownAnswer(result);
  } finally {
    if (own.branch !== null) await conversations.delete(own.branch);
  }
}
