import type { LineMatcher } from "./line_matcher.ts";
import type { Pace } from "../../../src/extension/spec.ts";

/** One matching line. */
export interface Hit {
  /** Relative to the workspace. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** At most 500 characters; in a longer line, the text around the match. */
  readonly text: string;
  /** Present if the line is longer than `text`. */
  readonly cut?: true;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

export interface ScanOptions {
  readonly path: string;
  readonly matcher: LineMatcher;
  /** Lines of context before and after each hit. */
  readonly context: number;
  /** Returns true to continue; called in line order, while `after` may still be growing. */
  readonly onHit: (hit: Hit) => boolean;
}

/** Longer lines are searched in parts, since the time of one search grows with the length. */
const PART = 16 * 1024;
/** As much as is checked at once for the absence of hits. */
const CHECKED = 64 * 1024;
const MAX_CHARS = 500;
const LEAD = 120;

/** Finds hits in the text of one file, which arrives in pieces of whole lines. */
export class LineScanner {
  readonly #options: ScanOptions;
  /** Number of complete lines so far. */
  #line = 0;
  /** Whether part of the next line was searched, and whether it had a hit. */
  #inLine = false;
  #hitInLine = false;
  #before: string[] = [];
  #growing: { readonly after: string[]; wanted: number }[] = [];
  #stopped = false;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** Returns false once no more text is needed. */
  async push(text: string, pace: Pick<Pace, "due" | "rest">): Promise<boolean> {
    for (let at = 0; at < text.length && !this.#stopped;) {
      const feed = text.length - at > CHECKED ? text.lastIndexOf("\n", at + CHECKED) : -1;
      const end = feed >= at ? feed + 1 : Math.min(text.length, at + CHECKED);
      await this.#scan(text.slice(at, end), pace);
      at = end;
      if (pace.due) await pace.rest();
    }
    return !this.#stopped;
  }

  async #scan(text: string, pace: Pick<Pace, "due" | "rest">): Promise<void> {
    if (this.#growing.length === 0 && !this.#options.matcher.mayMatchIn(text)) return this.#pass(text);
    for (let at = 0; at < text.length && !this.#stopped;) {
      const end = text.indexOf("\n", at);
      const stop = end < 0 ? text.length : end;
      if (stop - at > PART) {
        this.#take(text.slice(at, at + PART), { ended: false });
        at += PART;
      } else {
        const line = text.slice(at, text.charCodeAt(stop - 1) === 13 && stop > at ? stop - 1 : stop);
        this.#take(line, { ended: end >= 0 });
        at = stop + 1;
      }
      if (pace.due) await pace.rest();
    }
  }

  #take(line: string, { ended }: { readonly ended: boolean }): void {
    const isFirst = !this.#inLine;
    if (isFirst) this.#grow(line);
    if (!this.#hitInLine && this.#options.matcher.matches(line)) this.#hit(line, { isFirst, ended });
    if (isFirst && this.#options.context > 0) {
      this.#before.push(clip(line, 0));
      if (this.#before.length > this.#options.context) this.#before.shift();
    }
    this.#inLine = !ended;
    if (!ended) return;
    this.#line++;
    this.#hitInLine = false;
  }

  /** Adds the line to hits that need more context. */
  #grow(line: string): void {
    for (const one of this.#growing) {
      one.after.push(clip(line, 0));
      one.wanted--;
    }
    this.#growing = this.#growing.filter((one) => one.wanted > 0);
  }

  #hit(line: string, { isFirst, ended }: { readonly isFirst: boolean; readonly ended: boolean }): void {
    const { matcher, context, path, onHit } = this.#options;
    this.#hitInLine = true;
    const text = clip(line, line.length > MAX_CHARS ? matcher.startIn(line) : 0);
    const cut = line.length > MAX_CHARS || !isFirst || !ended && line.length === PART ? { cut: true as const } : {};
    const after: string[] = [];
    const around = context > 0 ? { before: isFirst ? [...this.#before] : this.#before.slice(0, -1), after } : {};
    this.#stopped = !onHit({ path, line: this.#line + 1, text, ...cut, ...around });
    if (context > 0) this.#growing.push({ after, wanted: context });
  }

  /** Counts lines without a hit and keeps the last ones. */
  #pass(text: string): void {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      this.#line++;
      this.#hitInLine = false;
    }
    if (text !== "") this.#inLine = !text.endsWith("\n");
    const { context } = this.#options;
    if (context === 0) return;
    const tail = text.slice(-context * 2000).split(/\r?\n/);
    if (tail.at(-1) === "") tail.pop();
    this.#before = [...this.#before, ...tail.map((line) => clip(line, 0))].slice(-context);
  }
}

/** A bounded part of a line, starting slightly before the match. */
function clip(line: string, start: number): string {
  if (line.length <= MAX_CHARS) return line;
  const from = start < MAX_CHARS - LEAD ? 0 : start - LEAD;
  const head = from > 0 ? "…" : "";
  const room = MAX_CHARS - head.length;
  const rest = line.slice(from, from + room);
  const cut = from + room < line.length ? `${head}${rest.slice(0, -1)}…` : `${head}${rest}`;
  return cut.toWellFormed();
}
