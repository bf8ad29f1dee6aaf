import { Parser, type Token, type TokenType, tokTypes } from "acorn";

/** The names of a scope. The parser looks each new one up among all others. */
export class ScopeNames extends Array<string> {
  #all: Set<string> | null = null;

  override push(name: string): number {
    if (this.length === 16) this.#all = new Set(this);
    this.#all?.add(name);
    return super.push(name);
  }

  override indexOf(name: string): number {
    return this.#all === null ? super.indexOf(name) : this.#all.has(name) ? 0 : -1;
  }
}

/** Acorn, with a time that grows with the text alone: its own scopes look each name up in a list. The overridden
 * methods are those that acorn's plugins use; its types do not have them. */
export class CodeParser extends Parser {
  declare readonly scopeStack: unknown[];

  enterScope(flags: number): void {
    this.scopeStack.push({ flags, var: new ScopeNames(), lexical: new ScopeNames(), functions: new ScopeNames() });
  }
}

/** Reads strings over the ends of lines. */
class WideStrings extends CodeParser {
  declare pos: number;
  declare readonly getToken: () => Token;
  declare readonly finishToken: (type: TokenType, value: string) => void;
  readonly #feeds: number[] = [];

  readString(quote: number): void {
    while (this.input.charCodeAt(++this.pos) !== quote) {
      if (this.pos >= this.input.length) throw new SyntaxError("Unterminated string constant");
      const code = this.input.charCodeAt(this.pos);
      if (code === BACKSLASH) this.pos++;
      else if (code === LINE_FEED) this.#feeds.push(this.pos);
    }
    this.pos++;
    this.finishToken(tokTypes.string, "");
  }

  static feeds(text: string): readonly number[] {
    const parser = new WideStrings({ ecmaVersion: "latest", sourceType: "module" }, text);
    while (parser.getToken().type !== tokTypes.eof);
    return parser.#feeds;
  }
}

const BACKSLASH = 92, LINE_FEED = 10;

/** The offsets of the line feeds inside strings. Null if the text cannot be divided into tokens. */
export function feedsInStrings(text: string): readonly number[] | null {
  try {
    return WideStrings.feeds(text);
  } catch {
    return null;
  }
}
