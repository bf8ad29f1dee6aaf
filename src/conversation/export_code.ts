/** One after another: comment, string, keyword, number. What is not closed goes on to the end, so that no text takes more
 * than one pass. */
const TOKENS =
  /(\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?)|\b(as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|of|return|satisfies|static|switch|this|throw|true|try|type|typeof|undefined|var|void|while|yield)\b|\b(\d[\w.]*)/g;
const NAMES = ["comment", "string", "keyword", "number"] as const;

/** TypeScript as HTML: comments, strings, keywords and numbers in spans, all of it through `escaped`. */
export function codeHtml(code: string, escaped: (text: string) => string): string {
  const parts: string[] = [];
  let end = 0;
  for (const match of code.matchAll(TOKENS)) {
    const kind = NAMES[match.slice(1).findIndex((group) => group !== undefined)] ?? "keyword";
    parts.push(escaped(code.slice(end, match.index)), `<span class="${kind}">${escaped(match[0])}</span>`);
    end = match.index + match[0].length;
  }
  return parts.join("") + escaped(code.slice(end));
}
