import { codeTokens } from "../../domain/text/code_tokens.ts";

/** TypeScript as HTML: comments, strings, keywords and numbers in spans, all passed through `escaped`. */
export function codeHtml(code: string, escaped: (text: string) => string): string {
  const parts: string[] = [];
  for (const { kind, text } of codeTokens(code)) {
    parts.push(kind === "plain" ? escaped(text) : `<span class="${kind}">${escaped(text)}</span>`);
  }
  return parts.join("");
}
