import { RichText, type Run } from "./rich_text.ts";

/** Where a text is best cut, the best first, and how much of a part may stay empty for it. */
const CUTS = [{ mark: "\n\n", least: 0.5 }, { mark: "\n", least: 0.25 }, { mark: " ", least: 0.25 }] as const;

/** The same text in parts of at most `limit` UTF-16 units. Styles go on in the next part: a block of code that is cut
 * is one in each. Only blanks and line ends at a cut are left out; no surrogate pair is cut. */
export function splitRichText(whole: RichText, limit: number): readonly RichText[] {
  const text = whole.runs.map((run) => run.text).join("");
  const parts: RichText[] = [];
  for (let from = 0; from < text.length;) {
    const end = text.length - from <= limit ? text.length : cutBefore(text, { from, limit });
    const part = sliced(whole.runs, { from, end });
    if (part.runs.some((run) => run.text.trim() !== "")) parts.push(part);
    from = end;
    while (from < text.length && text[from] === "\n") from++;
    if (text[end] === " ") from = Math.max(from, end + 1);
  }
  return parts;
}

function cutBefore(text: string, { from, limit }: { readonly from: number; readonly limit: number }): number {
  for (const { mark, least } of CUTS) {
    const at = text.lastIndexOf(mark, from + limit);
    if (at > from + limit * least) return at;
  }
  const end = from + limit;
  return isHighSurrogate(text.charCodeAt(end - 1)) && limit > 1 ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function sliced(runs: readonly Run[], { from, end }: { readonly from: number; readonly end: number }): RichText {
  const part = new RichText();
  let at = 0;
  for (const { text, spans } of runs) {
    part.add(text.slice(Math.max(0, from - at), Math.max(0, end - at)), spans);
    at += text.length;
  }
  return part;
}
