import { type Comment, parse, type Program, type Token, type TokenType, tokTypes } from "acorn";

export interface ModuleToken {
  readonly type: TokenType;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly onNewLine: boolean;
}

export interface ModuleTokens {
  readonly program: Program;
  readonly tokens: readonly ModuleToken[];
  readonly comments: readonly Comment[];
}

export function moduleTokens(code: string): ModuleTokens {
  const found: Token[] = [], comments: Comment[] = [];
  // The code before "/" decides whether it begins a regular expression, so tokens alone do not suffice.
  const program = parse(code, { ecmaVersion: "latest", sourceType: "module", onToken: found, onComment: comments });
  let before = 0;
  const tokens = found.filter(({ type }) => type !== tokTypes.eof).map(({ type, start, end }, index): ModuleToken => {
    const onNewLine = index > 0 && start > before && /[\n\r\u2028\u2029]/.test(code.slice(before, start));
    before = end;
    return { type, text: code.slice(start, end), start, end, onNewLine };
  });
  return { program, tokens, comments };
}
