import { signal } from "@preact/signals";
import { hasMarkdown, type MarkdownBlock } from "../../markdown/tree.ts";

const PAUSE_MS = 200;
const MAX_CHARS = 30_000;

type Tree = readonly MarkdownBlock[];

interface Drawn {
  readonly finished: readonly Tree[];
  readonly rest: Tree;
}

const NOTHING: Drawn = { finished: [], rest: [] };

export class DraftAnswer {
  readonly text = signal("");
  readonly plain = signal("");
  /** Null means that the page draws `plain`. */
  readonly drawn = signal<Drawn | null>(null);
  readonly #parse: (texts: readonly string[]) => Promise<readonly Tree[]>;
  readonly #pause: () => Promise<void>;
  #read = "";
  #finished = 0;
  #follows = false;
  #gaveUp = false;

  constructor(parse: (texts: readonly string[]) => Promise<readonly Tree[]>, pause = pauseBetween) {
    this.#parse = parse;
    this.#pause = pause;
  }

  set(text: string): void {
    if (!text.startsWith(this.#read)) this.#forget();
    if (!text.startsWith(this.plain.value)) this.plain.value = "";
    this.text.value = text;
    if (this.#gaveUp || !hasMarkdown(text)) this.plain.value = text;
    else if (!this.#follows) void this.#follow();
  }

  #forget(): void {
    this.#read = "";
    this.#finished = 0;
    this.drawn.value = null;
  }

  /** If a call fails, or the unfinished part is too long, the page draws the text without Markdown from then on. */
  async #follow(): Promise<void> {
    this.#follows = true;
    try {
      while (this.text.value !== this.#read && hasMarkdown(this.text.value)) {
        if (this.text.value.length - this.#finished > MAX_CHARS) return this.#giveUp();
        await this.#grow(this.text.value);
        await this.#pause();
      }
      this.#follows = false;
    } catch {
      this.#giveUp();
    }
  }

  #giveUp(): void {
    this.#gaveUp = true;
    this.#forget();
    this.plain.value = this.text.value;
  }

  async #grow(text: string): Promise<void> {
    const from = this.#finished;
    const end = finishedLength(text, from);
    const [made = [], rest = []] = await this.#parse([text.slice(from, end), text.slice(end)]);
    if (from !== this.#finished || !this.text.value.startsWith(text)) return;
    const { finished } = this.drawn.value ?? NOTHING;
    this.drawn.value = { finished: end > from ? [...finished, made] : finished, rest };
    this.#finished = end;
    this.#read = text;
  }
}

async function pauseBetween(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

const FENCE = /^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/;

/** Returns the number of characters before the first block that further text can change. `from` is an earlier result. */
export function finishedLength(text: string, from: number): number {
  let [end, at, fence, isBlank, isList] = [from, from, "", false, false];
  for (const line of text.slice(from).split("\n").slice(0, -1)) {
    const isOwn = line.trim() !== "";
    if (fence === "" && isBlank && isOwn && !/^\s/.test(line) && !(isList && ITEM.test(line))) {
      [end, isList] = [at, false];
    }
    if (fence === "" && at === end) isList = ITEM.test(line);
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    if (fence === "") isBlank = !isOwn;
    at += line.length + 1;
  }
  return end;
}
