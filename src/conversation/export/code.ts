import { codeSpans } from "../../markdown/code_spans.ts";

/** Code as HTML: comments, strings, keywords and other spans, all passed through `escaped`. */
export function codeHtml(
  code: string,
  escaped: (text: string) => string,
  { language = "ts" }: { readonly language?: string } = {},
): string {
  const parts: string[] = [];
  for (const { kind, text } of codeSpans(code, language)) {
    parts.push(kind === "plain" ? escaped(text) : `<span class="${kind}">${escaped(text)}</span>`);
  }
  return parts.join("");
}
