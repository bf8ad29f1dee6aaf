import { matchesKey, visibleWidth } from "@earendil-works/pi-tui";
import { abortable, Semaphore } from "../../../domain/kit/concurrency.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import { shownAnswer } from "../../../domain/query/outcomes.ts";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskOptions } from "../../../conversation/ask_options.ts";
import { QueryProgress } from "../../../domain/query/query_progress.ts";
import type { QueryEvent } from "../../../domain/query/query_schemas.ts";
import { parseMarkdown } from "../../../markdown/parse_markdown.ts";
import { markdownLines } from "../../../markdown/terminal/markdown_lines.ts";
import { terminalPaint } from "../../../markdown/terminal/paint.ts";
import { givenVariables, type Outgoing } from "../input/outgoing.ts";
import { flat } from "../text/one_line.ts";
import { cutWide } from "../text/wrapped.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { Reader, type TextPart } from "./reader.ts";
import { LineInput } from "./widgets.ts";

export class TextPanel extends BasePanel {
  readonly title: string;
  override readonly rows = 200;
  readonly #reader: Reader;

  constructor(parts: PanelParts, { title, texts }: { readonly title: string; readonly texts: readonly TextPart[] }) {
    super(parts);
    this.title = title;
    this.#reader = new Reader(parts.theme);
    this.#reader.text.show(texts);
  }

  get hint(): string {
    return "↑↓ PgUp PgDn · / find · Esc";
  }

  protected find(words: string, texts: readonly TextPart[]): void {
    this.#reader.text.show(texts);
    this.#reader.find(words);
  }

  protected grow(texts: readonly TextPart[]): void {
    this.#reader.text.grow(texts);
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

export class FindPanel extends TextPanel {
  constructor(parts: PanelParts, { branch, words }: { readonly branch: Conversation; readonly words: string }) {
    super(parts, { title: "Find in the conversation", texts: [] });
    this.load("conversation", {
      work: async (signal) => {
        const { conversations } = parts.session();
        await using made = await conversations.exports.make(branch, { conversations, format: "md", signal });
        return await new Response(ReadableStream.from(made.pieces())).text();
      },
      then: (text) => this.find(words, [{ text: unescaped(text.trimEnd()) }]),
    });
  }
}

/** Quoted and fenced texts of the export have no escapes. */
function unescaped(markdown: string): string {
  return markdown.replace(
    /^((?:> )*)(`{3,})\w*\n[^]*?\n\1\2$|^>.*|\\([\\`*_[\]<>#!|~&])/gm,
    (all, _quote, _fence, char) => char ?? all,
  );
}

export class CommandPanel extends TextPanel {
  #output = "";
  #asked: { readonly input: LineInput; answer(text: string): void } | null = null;
  readonly #asking = new Semaphore();

  constructor(parts: PanelParts, args: readonly string[]) {
    super(parts, { title: `/${args.join(" ")}`, texts: [] });
    this.load("command", {
      work: async (signal) => {
        const ask = (question: string): Promise<string> => this.#asking.run(() => this.#ask(question, signal));
        return await (await parts.extensions()).run(args, { print: (text) => this.#print(text), ask, signal });
      },
      then: (code) => {
        if (code === 0 ? this.#output === "" : code !== null) {
          this.#print(code === 0 ? "(no output)" : `\nexit code ${code}`);
        }
      },
    });
  }

  override get hint(): string {
    return this.#asked === null ? super.hint : "Enter answers · PgUp PgDn · Esc";
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#asked === null) return super.draw({ width, height });
    return [...super.draw({ width, height: height - 1 }), ...this.#asked.input.render(width)];
  }

  protected override key(data: string): void {
    const asked = this.#asked;
    if (asked === null || matchesKey(data, "pageUp") || matchesKey(data, "pageDown")) super.key(data);
    else if (matchesKey(data, "enter")) asked.answer(asked.input.value);
    else asked.input.handle(data);
  }

  protected override status(otherwise = ""): string {
    return this.#asked === null ? super.status(otherwise) : this.problem;
  }

  #print(text: string): void {
    this.#output += text;
    this.grow([{ text: this.#output }]);
    this.parts.act.redraw();
  }

  async #ask(question: string, signal: AbortSignal): Promise<string> {
    const lines = question.trimEnd().split("\n");
    const last = lines.at(-1) ?? "";
    if (lines.length > 1) this.#print(`${lines.slice(0, -1).join("\n")}\n`);
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#asked = { input: new LineInput({ prompt: `${flat(last)} ` }), answer: resolve };
    this.parts.act.redraw();
    try {
      const text = await abortable(promise, signal);
      this.#print(`${last} ${text}\n`);
      return text;
    } finally {
      this.#asked = null;
    }
  }
}

export class SideQuestion extends TextPanel {
  readonly #question: string;
  readonly #progress = new QueryProgress();
  #answer = "";
  #drawn = { answer: "", width: 0 };

  constructor(parts: PanelParts, question: Outgoing) {
    super(parts, { title: "By the way", texts: [{ text: question.text, look: "dim" }] });
    this.#question = question.text;
    const emit = (event: QueryEvent): void => {
      this.#progress.take(event);
      this.#answer = this.#progress.answer || this.#progress.draft;
      parts.act.redraw();
    };
    this.load("answer", {
      work: (signal) => answered(question, { signal, emit }, parts),
      then: (answer) => void (this.#answer = answer),
    });
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const answer = this.#answer;
    if (this.#drawn.width !== width || this.#drawn.answer !== answer) {
      this.#drawn = { answer, width };
      const paint = this.parts.theme?.().markdown ?? terminalPaint({ color: false, weights: true });
      const blocks = parseMarkdown(answer, { clean: visibleText });
      const lines = cutWide(markdownLines(blocks, { width, paint, columns: visibleWidth }), width);
      this.grow([{ text: `${this.#question}\n`, look: "dim" }, { text: lines.join("\n"), look: "drawn" }]);
    }
    return super.draw({ width, height });
  }

  protected override get activity(): string {
    return `${this.#progress.doing} …`;
  }
}

async function answered(
  { text, variables, images }: Outgoing,
  { signal, emit }: Pick<AskOptions, "signal" | "emit">,
  parts: PanelParts,
): Promise<string> {
  const { conversations, workspace } = parts.session();
  const branch = parts.branch();
  const own: { branch: Conversation | null } = { branch: null };
  await using about = branch && await conversations.exports.make(branch, { conversations, format: "md", signal });
  const pieces = about?.pieces();
  const label = "the conversation so far, as Markdown";
  try {
    const result = await conversations.ask({ channel: "tui", workspace }, text, {
      ...{ signal, emit, only: "aside", images: Object.values(images).map(({ image }) => image) },
      variables: {
        ...givenVariables(variables),
        ...(pieces ? { conversation: { label, json: false, encoding: "utf-8", showsEnd: true, pieces } } : {}),
      },
      onBranch: (made) => void (own.branch = made),
    });
    return shownAnswer(result);
  } finally {
    if (own.branch !== null) await conversations.delete(own.branch);
  }
}
