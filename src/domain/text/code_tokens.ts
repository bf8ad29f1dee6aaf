/** In this order: comment, string, keyword, number. An unclosed token extends to the end, so that any text takes a
 * single pass. */
const TOKENS =
  /(\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?)|\b(as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|of|return|satisfies|static|switch|this|throw|true|try|type|typeof|undefined|var|void|while|yield)\b|\b(\d[\w.]*)/g;
const NAMES = ["comment", "string", "keyword", "number"] as const;

export interface CodeToken {
  readonly kind: typeof NAMES[number] | "plain";
  readonly text: string;
}

/** Splits TypeScript into tokens for highlighting; joined, they are the same text. */
export function* codeTokens(code: string): Generator<CodeToken> {
  let end = 0;
  for (const match of code.matchAll(TOKENS)) {
    if (match.index > end) yield { kind: "plain", text: code.slice(end, match.index) };
    const kind = NAMES[match.slice(1).findIndex((group) => group !== undefined)] ?? "keyword";
    yield { kind, text: match[0] };
    end = match.index + match[0].length;
  }
  if (end < code.length) yield { kind: "plain", text: code.slice(end) };
}
