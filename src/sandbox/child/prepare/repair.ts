import { feedsInStrings } from "../syntax/parser.ts";
import { applyEdits, IDENTITY, type PositionMap } from "../syntax/position_map.ts";

export interface Repaired {
  readonly text: string;
  /** From the repaired text to the original. */
  readonly map: PositionMap;
  /** What was repaired, for the model. */
  readonly note: string;
}

const FENCE = /(?:^|\n)[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\r?\n([\s\S]*?)(?:\r?\n[ \t]*\1[ \t]*(?=\n|$)|$)/d;
const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
  "&apos;": "'",
};

/** Removes a fence at the beginning before anything is parsed, since the language would read it as a (useless) tagged
 * template. Null if there is none. */
export function repairFence(text: string, { leading }: { readonly leading: boolean }): Repaired | null {
  if (leading && !/^\s*(```|~~~)/.test(text)) return null;
  const found = FENCE.exec(text);
  const inside = found?.[2], start = found?.indices?.[2]?.[0];
  if (inside === undefined || start === undefined) return null;
  return { text: inside, map: [0, start, inside.length + 1], note: "took the code out of a Markdown fence" };
}

/** Restores operators that were escaped for HTML. */
export function repairEntities(text: string): Repaired | null {
  let out = "", at = 0;
  const map: number[] = [];
  for (const found of text.matchAll(/&(?:lt|gt|amp|quot|#39|apos);/g)) {
    map.push(out.length, at, found.index - at);
    out += text.slice(at, found.index);
    map.push(out.length, found.index, 1);
    out += ENTITIES[found[0]] ?? found[0];
    at = found.index + found[0].length;
  }
  if (at === 0) return null;
  map.push(out.length, at, text.length - at + 1);
  return { text: out + text.slice(at), map, note: "replaced HTML entities by their operators" };
}

/** Escapes the line feeds inside strings, each of which another line closes. Null if there are none. */
export function repairLineFeeds(text: string): Repaired | null {
  const feeds = feedsInStrings(text);
  if (!feeds || feeds.length === 0) return null;
  const edits = feeds.map((at) => ({ start: text[at - 1] === "\r" ? at - 1 : at, end: at + 1, text: "\\n" }));
  return { ...applyEdits(text, edits), note: "escaped the line feeds inside a string" };
}

/** Closes one bracket that is still open at the end of the text. */
export function repairEnd(text: string): Repaired[] {
  return ["}", ")", "]"].map((closer) => ({
    text: `${text}\n${closer}`,
    map: IDENTITY,
    note: `added a missing "${closer}" at the end`,
  }));
}
