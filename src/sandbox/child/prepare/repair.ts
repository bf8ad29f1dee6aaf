import { IDENTITY, type PositionMap } from "../syntax/position_map.ts";

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

/** Escapes the line feeds inside the string that begins at an offset, with a quote that another line closes. Null if
 * there is no such string. */
export function repairLineFeeds(text: string, offset: number): Repaired | null {
  const quote = text[offset];
  if (quote !== '"' && quote !== "'") return null;
  let out = "", from = 0, at = offset + 1;
  const map: number[] = [];
  while (text[at] !== quote) {
    if (at >= text.length) return null;
    const feed = /^\r?\n/.exec(text.slice(at, at + 2))?.[0] ?? "";
    if (feed !== "") {
      map.push(out.length, from, at - from);
      out += text.slice(from, at);
      map.push(out.length, at, 1);
      out += "\\n";
      from = at + feed.length;
    }
    at += feed.length || (text[at] === "\\" ? 2 : 1);
  }
  if (from === 0) return null;
  map.push(out.length, from, text.length - from + 1);
  return { text: out + text.slice(from), map, note: "escaped the line feeds inside a string" };
}

/** Closes one bracket that is still open at the end of the text. */
export function repairEnd(text: string): Repaired[] {
  return ["}", ")", "]"].map((closer) => ({
    text: `${text}\n${closer}`,
    map: IDENTITY,
    note: `added a missing "${closer}" at the end`,
  }));
}
