import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";

export interface MatchOptions {
  readonly ignoreCase?: boolean | undefined;
  /** Treats the pattern as plain text. */
  readonly literal?: boolean | undefined;
}

const MAX_PATTERN = 2_000;
/** Maximum states of the compiled pattern: the worst-case time per character grows with them. */
const MAX_PROGRAM = 2_000;
/** Up to this many, 64 KB take a few milliseconds at worst. */
const LIGHT_PROGRAM = 24;
/** The engine's text search takes the product of the two lengths at worst. */
const LIGHT_TEXT = 64;
/** Look-around and back-references. */
const BEYOND = /\(\?<?[=!]|\\[1-9]|\\k</;
/** Text without characters that are special in a pattern. */
const PLAIN = /^[\w\s"'`/:;,=<>@#%&!~-]+$/;

/** Matches a pattern against single lines, in time linear in their length: RE2's algorithm, no backtracking. */
export class LineMatcher {
  readonly #plain: string | null;
  readonly #expression: RE2JS;
  /** False if the pattern depends on the edges of a line, so that a search of longer text proves nothing. */
  readonly #wholeTextTells: boolean;
  /** Texts of which every match contains one; empty if there are no such texts. */
  readonly #needed: readonly string[];

  /** Throws SyntaxError for syntax that this engine does not support, RangeError for a pattern that is too large. */
  constructor(pattern: string, { ignoreCase = false, literal = false }: MatchOptions) {
    if (pattern === "") throw new RangeError("Cannot search for an empty pattern");
    if (/[\r\n]/.test(pattern)) throw new RangeError("Cannot search over line ends: patterns are matched line by line");
    if (pattern.length > MAX_PATTERN) throw new RangeError(`Cannot use a pattern of ${pattern.length} characters`);
    this.#plain = !ignoreCase && (literal || PLAIN.test(pattern)) ? pattern : null;
    this.#expression = compile(pattern, { ignoreCase, literal });
    this.#needed = ignoreCase ? [] : literal ? [pattern] : neededTexts(pattern);
    this.#wholeTextTells = literal || !/\$|\\[AzZ]|\(\?[A-Za-z]*-/.test(pattern);
  }

  /** Whether it would block the main loop for too long: the time per piece grows with the states of the program. */
  get isHeavy(): boolean {
    return this.#plain === null ? this.#expression.programSize() > LIGHT_PROGRAM : this.#plain.length > LIGHT_TEXT;
  }

  /** False if no line of the text can match: a quick check of all lines at once. */
  mayMatchIn(text: string): boolean {
    if (this.#plain !== null) return text.includes(this.#plain);
    if (this.#needed.length > 0 && !this.#needed.some((one) => text.includes(one))) return false;
    return !this.#wholeTextTells || this.#expression.test(text);
  }

  matches(line: string): boolean {
    return this.#plain !== null ? line.includes(this.#plain) : this.#expression.test(line);
  }

  /** Where the first match in a line starts; 0 if there is none. */
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
  try {
    const source = literal ? RE2JS.quote(pattern) : RE2JS.translateRegExp(pattern);
    const expression = RE2JS.compile(source, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
    if (expression.programSize() <= MAX_PROGRAM) return expression;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const why = BEYOND.test(pattern)
      ? "no look-around and no back-references in this linear-time engine"
      : error instanceof RE2JSSyntaxException
      ? `${error.error}: \`${error.input}\``
      : error.message;
    throw new SyntaxError(`Cannot use pattern ${pattern}: ${why}; {literal: true} searches for plain text`);
  }
  throw new RangeError(`Cannot use pattern ${pattern}: its repetitions stand for too many states`);
}

/** For each alternative of a pattern, a text that every match contains; empty if one has none. */
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
      else if (/[pPx\d]/.test(pattern[at] ?? "")) return []; // more characters belong to it
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
    if (at < 0) return []; // a bracket that is not closed
  }
  end();
  found.push(best);
  return found.every((text) => text.length > 1) ? found : [];
}

function withoutLast(text: string): string {
  return [...text].slice(0, -1).join("");
}

/** The position of the bracket that closes a class of characters; -1 if there is none. */
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
