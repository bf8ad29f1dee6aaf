import { eastAsianWidth } from "get-east-asian-width";

export interface Run {
  readonly text: string;
  readonly paint: (text: string) => string;
}

export interface Wrapping {
  readonly width: number;
  readonly columns: (text: string) => number;
}

const GRAPHEMES = new Intl.Segmenter();
const ASCII = /^[\x20-\x7e]*$/;

export function wrapRuns(runs: readonly Run[], { width, columns }: Wrapping): readonly string[] {
  const lines: Line[] = [new Line()];
  const top = (): Line => lines[lines.length - 1] as Line;
  for (const word of wordsOf(runs)) {
    if (word === null) {
      lines.push(new Line());
      continue;
    }
    const wide = word.reduce((sum, { text }) => sum + columns(text), 0);
    if (top().columns + wide <= width) top().add(word, wide);
    else if (isBlank(word)) {
      if (top().columns > 0) lines.push(new Line());
    } else {
      if (top().columns > 0 && !top().isIndent) lines.push(new Line());
      for (const piece of wide <= width - top().columns ? word : word.flatMap(broken)) {
        const more = columns(piece.text);
        if (top().columns > 0 && top().columns + more > width) lines.push(new Line());
        top().add([piece], more);
      }
    }
  }
  return lines.map((line) => line.painted());
}

export function cutRuns(runs: readonly Run[], { width, columns }: Wrapping): readonly string[] {
  const lines: Line[] = [new Line()];
  const top = (): Line => lines[lines.length - 1] as Line;
  for (const { text, paint } of runs) {
    for (const [at, part] of text.split("\n").entries()) {
      if (at > 0) lines.push(new Line());
      const wide = columns(part);
      const fits = top().columns + wide <= width;
      for (const piece of fits ? [{ text: part, paint }] : broken({ text: part, paint })) {
        const more = fits ? wide : columns(piece.text);
        if (top().columns > 0 && top().columns + more > width) lines.push(new Line());
        top().add([piece], more);
      }
    }
  }
  return lines.map((line) => line.painted());
}

class Line {
  readonly #runs: Run[] = [];
  columns = 0;

  get isIndent(): boolean {
    return isBlank(this.#runs);
  }

  add(runs: readonly Run[], columns: number): void {
    for (const run of runs) {
      const last = this.#runs[this.#runs.length - 1];
      if (last?.paint === run.paint) this.#runs[this.#runs.length - 1] = { ...run, text: last.text + run.text };
      else this.#runs.push(run);
    }
    this.columns += columns;
  }

  painted(): string {
    const end = this.#runs.findLastIndex(({ text }) => !/^ *$/.test(text));
    return this.#runs.slice(0, end + 1)
      .map(({ text, paint }, at) => text === "" ? "" : paint(at === end ? text.replace(/ +$/, "") : text)).join("");
  }
}

function isBlank(runs: readonly Run[]): boolean {
  return runs.every(({ text }) => /^ *$/.test(text));
}

function* wordsOf(runs: readonly Run[]): Generator<readonly Run[] | null> {
  let word: Run[] = [];
  for (const { text, paint } of runs) {
    for (const [piece] of text.matchAll(/\n| +|[^ \n]+/g)) {
      if (piece !== "\n" && !piece.startsWith(" ")) word.push({ text: piece, paint });
      else {
        if (word.length > 0) yield word;
        word = [];
        yield piece === "\n" ? null : [{ text: piece, paint }];
      }
    }
  }
  if (word.length > 0) yield word;
}

function broken({ text, paint }: Run): readonly Run[] {
  const parts = ASCII.test(text) ? [...text] : [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
  return parts.map((part) => ({ text: part, paint }));
}

const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;
/** Halfwidth marks of a letter take a column of their own. */
const MARKS = /(?<=[^])[\uff9e\uff9f]/g;
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

export function textColumns(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (EMOJI.test(segment)) columns += 2;
    else if (!NOTHING.test(segment)) {
      columns += eastAsianWidth(segment.codePointAt(0) ?? 0) + (segment.match(MARKS)?.length ?? 0);
    }
  }
  return columns;
}
