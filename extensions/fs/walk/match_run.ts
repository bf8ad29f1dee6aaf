import type { GlobSegment, GlobToken } from "./glob_tokens.ts";

interface MatchRules<P, I> {
  isMany(pattern: P): boolean;
  fits(pattern: P, item: I): boolean;
}

const TOKENS: MatchRules<GlobToken, string> = { isMany: (token) => token.kind === "many", fits: fitsToken };
export const SEGMENTS: MatchRules<GlobSegment, string> = {
  isMany: (segment) => segment === "**",
  fits: (segment, name) => segment !== "**" && matchRun(segment, [...name], TOKENS),
};

/** Retries only the newest star, which is sufficient and prevents exponential time. */
export function matchRun<P, I>(pattern: readonly P[], items: readonly I[], rules: MatchRules<P, I>): boolean {
  let p = 0;
  let i = 0;
  let star = -1;
  let mark = 0;
  while (i < items.length) {
    const now = pattern[p];
    const item = items[i];
    if (now !== undefined && rules.isMany(now)) {
      star = p++;
      mark = i;
    } else if (now !== undefined && item !== undefined && rules.fits(now, item)) {
      p++;
      i++;
    } else if (star >= 0) {
      p = star + 1;
      i = ++mark;
    } else return false;
  }
  return pattern.slice(p).every((rest) => rules.isMany(rest));
}

function fitsToken(token: GlobToken, char: string): boolean {
  if (token.kind === "char") return token.char === char;
  if (token.kind !== "class") return true;
  return token.ranges.some(([from, to]) => char >= from && char <= to) !== token.not;
}
