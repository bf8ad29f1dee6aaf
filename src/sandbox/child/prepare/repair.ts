import { IDENTITY, type PositionMap } from "../syntax/position_map.ts";

export interface Repaired {
  readonly text: string;
  /** From the repaired text to the one that was given. */
  readonly map: PositionMap;
  /** What was done, for the model. */
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

/** Text that begins with a fence: taken off before anything is parsed, as it is a (useless) tagged template to the
 * language. Null where there is none. */
export function repairFence(text: string, { leading }: { readonly leading: boolean }): Repaired | null {
  if (leading && !/^\s*(```|~~~)/.test(text)) return null;
  const found = FENCE.exec(text);
  const inside = found?.[2], start = found?.indices?.[2]?.[0];
  if (inside === undefined || start === undefined) return null;
  return { text: inside, map: [0, start, inside.length + 1], note: "took the code out of a Markdown fence" };
}

/** Operators that were escaped for HTML. */
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

/** One bracket that the text's end leaves open. */
export function repairEnd(text: string): Repaired[] {
  return ["}", ")", "]"].map((closer) => ({
    text: `${text}\n${closer}`,
    map: IDENTITY,
    note: `added a missing "${closer}" at the end`,
  }));
}
