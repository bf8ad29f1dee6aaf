/* The search worker contains this file, so the file imports only types of `@vis/extension`, which contains Zod. */

import type { Pace } from "@vis/extension";
import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";

export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly cut?: true;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

interface ScanOptions {
  readonly path: string;
  readonly matcher: LineMatcher;
  readonly context: number;
  readonly onHit: (hit: Hit) => boolean;
}

const PART = 16 * 1024;
const CHECKED = 64 * 1024;
const MAX_CHARS = 500;
const LEAD = 120;

export class LineScanner {
  readonly #options: ScanOptions;
  #line = 0;
  #inLine = false;
  #hitInLine = false;
  #before: string[] = [];
  #growing: { readonly after: string[]; wanted: number }[] = [];
  #stopped = false;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

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

function clip(line: string, start: number): string {
  if (line.length <= MAX_CHARS) return line;
  const from = start < MAX_CHARS - LEAD ? 0 : start - LEAD;
  const head = from > 0 ? "…" : "";
  const room = MAX_CHARS - head.length;
  const rest = line.slice(from, from + room);
  const cut = from + room < line.length ? `${head}${rest.slice(0, -1)}…` : `${head}${rest}`;
  return cut.toWellFormed();
}

export interface MatchOptions {
  readonly ignoreCase?: boolean | undefined;
  readonly literal?: boolean | undefined;
}

const MAX_PATTERN = 2_000, SHOWN_PATTERN = 200;
const MAX_PROGRAM = 2_000;
const LIGHT_PROGRAM = 24;
const LIGHT_TEXT = 64;
const BEYOND = /\(\?<?[=!]|\\[1-9]|\\k</;
const PLAIN = /^[\w\s"'`/:;,=<>@#%&!~-]+$/;

export class LineMatcher {
  readonly #plain: string | null;
  readonly #expression: RE2JS;
  readonly #wholeTextTells: boolean;
  readonly #needed: readonly string[];

  constructor(pattern: string, { ignoreCase = false, literal = false }: MatchOptions) {
    if (pattern === "") throw refused('Cannot search for "": the pattern is empty', '".*" matches all lines');
    if (/[\r\n]/.test(pattern)) {
      throw refused(
        "Cannot use the pattern: it contains a line end, and Vis searches single lines",
        "search for one line",
      );
    }
    if (pattern.length > MAX_PATTERN) {
      throw refused(
        `Cannot use the pattern: it has ${pattern.length} characters, and the limit is ${MAX_PATTERN}`,
        "shorten it",
      );
    }
    this.#plain = !ignoreCase && (literal || PLAIN.test(pattern)) ? pattern : null;
    this.#expression = compile(pattern, { ignoreCase, literal });
    this.#needed = ignoreCase ? [] : literal ? [pattern] : neededTexts(pattern);
    this.#wholeTextTells = literal || !/\$|\\[AzZ]|\(\?[A-Za-z]*-/.test(pattern);
  }

  get isHeavy(): boolean {
    return this.#plain === null ? this.#expression.programSize() > LIGHT_PROGRAM : this.#plain.length > LIGHT_TEXT;
  }

  mayMatchIn(text: string): boolean {
    if (this.#plain !== null) return text.includes(this.#plain);
    if (this.#needed.length > 0 && !this.#needed.some((one) => text.includes(one))) return false;
    return !this.#wholeTextTells || this.#expression.test(text);
  }

  matches(line: string): boolean {
    return this.#plain !== null ? line.includes(this.#plain) : this.#expression.test(line);
  }

  startIn(line: string): number {
    if (this.#plain !== null) return Math.max(0, line.indexOf(this.#plain));
    const matcher = this.#expression.matcher(line);
    return matcher.find() ? matcher.start() : 0;
  }
}

function compile(
  pattern: string,
  { ignoreCase, literal }: { readonly ignoreCase: boolean; readonly literal: boolean },
): RE2JS {
  let size = 0;
  try {
    const source = literal ? RE2JS.quote(pattern) : RE2JS.translateRegExp(pattern);
    const expression = RE2JS.compile(source, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
    size = expression.programSize();
    if (size <= MAX_PROGRAM) return expression;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const why = BEYOND.test(pattern)
      ? "patterns have no look-around and no back-references here"
      : error instanceof RE2JSSyntaxException
      ? `${error.error} (\`${error.input}\`)`
      : error.message;
    throw refused(`Cannot use pattern ${oneShown(pattern)}: ${why}`, "for plain text, pass {literal: true}");
  }
  throw refused(
    `Cannot use pattern ${oneShown(pattern)}: it compiles to ${size} states, and the limit is ${MAX_PROGRAM}`,
    "shorten it or repeat less",
  );
}

function refused(message: string, advice: string): RangeError {
  return Object.assign(new RangeError(`${message}; ${advice}`), { advice });
}

function oneShown(pattern: string): string {
  return pattern.length <= SHOWN_PATTERN ? pattern : `${pattern.slice(0, SHOWN_PATTERN - 1).toWellFormed()}…`;
}

function neededTexts(pattern: string): readonly string[] {
  if (/\(\?(?![:P<])|\\Q/.test(pattern)) return [];
  const found: string[] = [];
  let best = "", run = "", depth = 0;
  const end = (): void => {
    if (run.length > best.length) best = run;
    run = "";
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "\\") {
      end();
      at++;
      if (/[pPx]/.test(pattern[at] ?? "") && pattern[at + 1] === "{") at = pattern.indexOf("}", at);
      else if (/[pPx\d]/.test(pattern[at] ?? "")) return [];
    } else if (char === "[") {
      end();
      at = endOfClass(pattern, at);
    } else if (char === "{") {
      run = withoutLast(run);
      end();
      at = pattern.indexOf("}", at);
    } else if (char === "?" || char === "*") {
      run = withoutLast(run);
      end();
    } else if (char === "|" && depth === 0) {
      end();
      found.push(best);
      best = "";
    } else if (/[().^$+|]/.test(char)) {
      if (char === "(") depth++;
      if (char === ")") depth--;
      end();
    } else if (depth > 0) end();
    else run += char;
    if (at < 0) return [];
  }
  end();
  found.push(best);
  return found.every((text) => text.length > 1) ? found : [];
}

function withoutLast(text: string): string {
  return [...text].slice(0, -1).join("");
}

function endOfClass(pattern: string, from: number): number {
  let at = from + (pattern[from + 1] === "^" ? 2 : 1);
  if (pattern[at] === "]") at++;
  for (; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern.startsWith("[:", at)) at = Math.max(at, pattern.indexOf(":]", at) + 1);
    else if (pattern[at] === "]") return at;
  }
  return -1;
}
