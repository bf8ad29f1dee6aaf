import pc from "picocolors";
import { ago, oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { SearchHit } from "../../../domain/records/history.ts";
import type { Io } from "../../channel.ts";

const ID_CHARS = 13;
/** Words that share so many first letters are forms of one word. */
const STEM = 3;

/** Search results on a terminal: each conversation once, its places below it, the words that were found in bold. */
export function foundLines(
  hits: readonly SearchHit[],
  { text, io, now }: { readonly text: string; readonly io: Pick<Io, "stdoutColor">; readonly now: number },
): readonly string[] {
  const color = pc.createColors(io.stdoutColor);
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const bold = (snippet: string): string =>
    snippet.replace(/\[([^[\]]+)\]/g, (whole, found: string) => isOf(found, words) ? color.bold(found) : whole);
  const groups = Map.groupBy(hits, ({ conversationId }) => conversationId);
  return [...groups].flatMap(([id, places]) => [
    `${color.cyan(id.slice(0, ID_CHARS))}  ${color.bold(visibleText(oneLine(places[0]?.title ?? "", 80)))}`,
    ...places.flatMap((hit) => [
      `  ${color.dim(visibleText(`${placeOf(hit)} · ${ago(hit.at, now)}`))}`,
      `    ${bold(visibleText(oneLine(hit.snippet, 400)))}`,
    ]),
  ]);
}

function isOf(found: string, words: readonly string[]): boolean {
  const start = (word: string): string => word.normalize("NFD").replace(/[\u0300-\u036f]/g, "").slice(0, STEM);
  return words.some((word) => start(found.toLowerCase()) === start(word.replace(/^\W+/, "")));
}

function placeOf({ kind, position, variable }: SearchHit): string {
  const step = position === null ? [] : [`step ${position + 1}`];
  return [kind, ...step, ...(variable === null ? [] : [variable])].join(" · ");
}
