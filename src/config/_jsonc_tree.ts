/** A value in JSON with comments, with its position. */
export interface JsoncNode {
  readonly start: number;
  /** Position after its last character. */
  readonly end: number;
  readonly kind: "object" | "array" | "scalar";
  readonly members: readonly JsoncMember[];
}

export interface JsoncMember {
  /** Name in an object, index in an array. */
  readonly key: string;
  /** Position of its name; in an array, of its value. */
  readonly start: number;
  readonly value: JsoncNode;
  /** Position of the comma after it; null if there is none. */
  readonly comma: number | null;
}

const SCALAR = /[^\s,:\[\]{}"\/]+/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;
const BLANK = /(?:[\s\ufeff]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

/** Parses a text that `parseJsonc` accepts; throws `SyntaxError` for others. */
export function jsoncTree(text: string): JsoncNode {
  const reader = new TreeReader(text);
  return reader.value();
}

/** The position after blanks and comments. */
export function afterBlanks(text: string, from: number): number {
  BLANK.lastIndex = from;
  BLANK.exec(text);
  return BLANK.lastIndex;
}

class TreeReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): JsoncNode {
    const start = this.#at = afterBlanks(this.#text, this.#at);
    const open = this.#text[start];
    if (open === "{") return this.#container("object", "}");
    if (open === "[") return this.#container("array", "]");
    this.#match(open === '"' ? STRING : SCALAR);
    return { start, end: this.#at, kind: "scalar", members: [] };
  }

  #container(kind: "object" | "array", close: string): JsoncNode {
    const start = this.#at++;
    const members: JsoncMember[] = [];
    while (!this.#takes(close)) {
      const from = this.#at;
      const key = kind === "array" ? String(members.length) : String(JSON.parse(this.#match(STRING)));
      if (kind === "object" && !this.#takes(":")) throw this.#unexpected();
      const value = this.value();
      const end = this.#at;
      const comma = this.#takes(",") ? this.#at - 1 : null;
      if (comma === null) this.#at = end;
      members.push({ key, start: from, value, comma });
      if (comma === null && this.#text[afterBlanks(this.#text, end)] !== close) throw this.#unexpected();
    }
    return { start, end: this.#at, kind, members };
  }

  /** Skips blanks, and the character if it comes next. */
  #takes(char: string): boolean {
    this.#at = afterBlanks(this.#text, this.#at);
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected();
    this.#at += found.length;
    return found;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`Cannot read JSON: nothing that fits at character ${this.#at}`);
  }
}
