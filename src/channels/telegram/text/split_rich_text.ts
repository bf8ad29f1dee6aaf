import { RichText, type StyledText } from "./rich_text.ts";

interface Cut {
  readonly mark: string;
  /** The minimum fill of a part. */
  readonly least: number;
  /** Where to cut: `apart` outside code; `before` also in front of a block that fits into the next part. */
  readonly place: "apart" | "before" | "anywhere";
}

/** Places to cut a text, best first. */
const CUTS: readonly Cut[] = [
  { mark: "\n\n", least: 0.5, place: "apart" },
  { mark: "\n", least: 0.5, place: "apart" },
  { mark: "\n", least: 0.1, place: "before" },
  { mark: "\n\n", least: 0.5, place: "anywhere" },
  { mark: "\n", least: 0.25, place: "anywhere" },
  { mark: " ", least: 0.25, place: "anywhere" },
];

/** From its first unit to the one after its last. */
interface Block {
  readonly start: number;
  readonly end: number;
}

/** Splits a text into parts of at most `limit` UTF-16 units. A code block that fits into a part is only cut if the part
 * would otherwise be nearly empty; styles that are cut continue in the next part. Only blanks and line ends at a cut
 * are dropped; no surrogate pair is cut. */
export function splitRichText(whole: RichText, limit: number): readonly RichText[] {
  const text = whole.runs.map((run) => run.text).join("");
  const blocks = blocksOf(whole.runs);
  const parts: RichText[] = [];
  for (let from = 0; from < text.length;) {
    const end = text.length - from <= limit ? text.length : cutBefore(text, { from, limit, blocks });
    const part = sliced(whole.runs, { from, end });
    if (part.runs.some((run) => run.text.trim() !== "")) parts.push(part);
    from = end;
    while (from < text.length && text[from] === "\n") from++;
    if (text[end] === " ") from = Math.max(from, end + 1);
  }
  return parts;
}

function cutBefore(
  text: string,
  { from, limit, blocks }: { readonly from: number; readonly limit: number; readonly blocks: readonly Block[] },
): number {
  const edge = from + limit;
  const crossing = blocks.find(({ start, end }) => start < edge && end > edge);
  const fits = crossing !== undefined && crossing.end - crossing.start <= limit;
  for (const { mark, least, place } of CUTS) {
    if (place === "before" && !fits) continue;
    const at = lastMark(text, { mark, edge, blocks: place === "anywhere" ? [] : blocks });
    if (at > from + limit * least) return at;
  }
  return isHighSurrogate(text.charCodeAt(edge - 1)) && limit > 1 ? edge - 1 : edge;
}

/** The last mark up to the edge that is outside all blocks; -1 if there is none. */
function lastMark(
  text: string,
  { mark, edge, blocks }: { readonly mark: string; readonly edge: number; readonly blocks: readonly Block[] },
): number {
  let at = text.lastIndexOf(mark, edge);
  for (let n = blocks.length - 1; n >= 0 && at >= 0; n--) {
    const { start = 0, end = 0 } = blocks[n] ?? {};
    if (at >= end) return at;
    if (at >= start) at = start === 0 ? -1 : text.lastIndexOf(mark, start - 1);
  }
  return at;
}

function blocksOf(runs: readonly StyledText[]): readonly Block[] {
  const found = new Map<object, Block>();
  let at = 0;
  for (const { text, spans } of runs) {
    const span = spans.find(({ type }) => type === "pre");
    if (span) found.set(span, { start: found.get(span)?.start ?? at, end: at + text.length });
    at += text.length;
  }
  return [...found.values()];
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function sliced(runs: readonly StyledText[], { from, end }: { readonly from: number; readonly end: number }): RichText {
  const part = new RichText();
  let at = 0;
  for (const { text, spans } of runs) {
    part.add(text.slice(Math.max(0, from - at), Math.max(0, end - at)), spans);
    at += text.length;
  }
  return part;
}
