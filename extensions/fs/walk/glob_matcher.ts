import { advised } from "@vis/extension";
import { posix } from "node:path";

const MAX_PATTERN = 1_000;
const MAX_PATTERNS = 1_000;
const MAX_ALTERNATIVES = 256;

/** In a pattern with at most `MAX_BRACKETED` names that have brackets, brackets also match themselves, because folders
 * have names such as `[id]`. */
export class GlobMatcher {
  readonly #wanted: readonly (readonly GlobSegment[])[];
  readonly #unwanted: readonly (readonly GlobSegment[])[];
  readonly start: string;
  readonly bases: readonly string[];
  readonly depth: number;
  readonly #below: string;

  constructor(patterns: readonly string[], { below }: { readonly below: string } = { below: "" }) {
    if (patterns.length > MAX_PATTERNS) {
      throw advised(
        new RangeError(`Cannot use ${patterns.length} patterns at once: the limit is ${MAX_PATTERNS}`),
        "use * or ** for many names",
      );
    }
    const wanted = patterns.filter((pattern) => !pattern.startsWith("!"));
    const chosen = wanted.length > 0 ? wanted : ["**"];
    const isAround = below !== "" && patterns.some((one) => /^!?\.\.(?:\/|$)/.test(one));
    this.#below = isAround ? below : "";
    const all = (one: string) => alternatives(isAround ? posix.join(below, one) : one);
    this.#wanted = chosen.flatMap(all);
    this.#unwanted = patterns.filter((pattern) => pattern.startsWith("!")).flatMap((one) => all(one.slice(1)));
    const bases = this.#wanted.map(plainBase);
    const shared = commonOf(bases);
    const path = (base: readonly string[]) => posix.relative(`/${this.#below}`, `/${base.join("/")}`) || ".";
    this.start = path(shared);
    this.bases = [...new Set(bases.map(path))];
    const depths = this.#wanted.map((one) => one.includes("**") ? Infinity : one.length - shared.length);
    this.depth = Math.max(1, ...depths);
  }

  matches(path: string): boolean {
    const parts = (this.#below === "" ? path : posix.join(this.#below, path)).split("/");
    const fits = (pattern: readonly GlobSegment[]): boolean => matchRun(pattern, parts, SEGMENTS);
    return this.#wanted.some(fits) && !this.#unwanted.some(fits);
  }

  static isPattern(text: string): boolean {
    return /[*?[\]{}]|^!/.test(text);
  }
}

function alternatives(pattern: string): GlobSegment[][] {
  if (pattern.length > MAX_PATTERN) {
    throw advised(
      new RangeError(`Cannot use the pattern: it has ${pattern.length} characters, and the limit is ${MAX_PATTERN}`),
      "shorten it",
    );
  }
  return expand(pattern).flatMap((one) => {
    const parts = one.split("/").filter((part) => part !== "" && part !== ".");
    if (parts.includes("..") || one.startsWith("/")) {
      throw advised(
        new RangeError(
          `Cannot use pattern ${pattern}: ${one.startsWith("/") ? 'it begins with "/"' : 'it contains ".."'}`,
        ),
        "name a path in the workspace",
      );
    }
    return withLiterals(parts).map((parts) => {
      const segments = parts.map((part): GlobSegment => part === "**" ? "**" : tokensOf(part));
      return parts.at(-1) === "**" ? [...segments, tokensOf("*")] : segments;
    });
  });
}

const MAX_BRACKETED = 4;

function withLiterals(parts: readonly string[]): readonly (readonly string[])[] {
  const bracketed = parts.filter((part) => /^[^\\]*\[[^\\]*\][^\\]*$/.test(part));
  if (bracketed.length > MAX_BRACKETED) return [parts];
  return parts.reduce<readonly (readonly string[])[]>((lists, part) => {
    const readings = bracketed.includes(part) ? [part, part.replace(/[[\]]/g, "\\$&")] : [part];
    return lists.flatMap((list) => readings.map((reading) => [...list, reading]));
  }, [[]]);
}

function expand(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const one = open.pop() ?? "";
    const found = innermost(one);
    if (!found) done.unshift(one);
    else open.push(...found.parts.map((part) => `${one.slice(0, found.from)}${part}${one.slice(found.to)}`));
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw advised(
        new RangeError(
          `Cannot use pattern ${pattern}: it expands to more than ${MAX_ALTERNATIVES} patterns, the limit`,
        ),
        "use fewer alternatives in braces",
      );
    }
  }
  return done;
}

function innermost(pattern: string): { readonly from: number; readonly to: number; readonly parts: string[] } | null {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  return found ? { from: found.index, to: found.index + found[0].length, parts: (found[1] ?? "").split(",") } : null;
}

function plainBase(segments: readonly GlobSegment[]): string[] {
  const names: string[] = [];
  for (const segment of segments.slice(0, -1)) {
    if (segment === "**" || segment.some((token) => token.kind !== "char")) break;
    names.push(segment.map((token) => token.kind === "char" ? token.char : "").join(""));
  }
  return names;
}

function commonOf(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...rest] = lists;
  const end = first.findIndex((name, at) => rest.some((list) => list[at] !== name));
  return end < 0 ? first : first.slice(0, end);
}

type GlobToken =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "one" }
  | { readonly kind: "many" }
  | { readonly kind: "class"; readonly not: boolean; readonly ranges: readonly (readonly [string, string])[] };
export type GlobSegment = readonly GlobToken[] | "**";

export function tokensOf(part: string): GlobToken[] {
  const tokens: GlobToken[] = [];
  const chars = [...part];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const end = char === "[" ? chars.indexOf("]", at + (chars[at + 1] === "!" || chars[at + 1] === "^" ? 3 : 2)) : -1;
    if (char === "\\" && at + 1 < chars.length) tokens.push({ kind: "char", char: chars[++at] ?? "" });
    else if (char === "?") tokens.push({ kind: "one" });
    else if (char === "*" && tokens.at(-1)?.kind !== "many") tokens.push({ kind: "many" });
    else if (end > 0) {
      tokens.push(classOf(chars.slice(at + 1, end)));
      at = end;
    } else if (char !== "*") tokens.push({ kind: "char", char });
  }
  return tokens;
}

function classOf(chars: readonly string[]): GlobToken {
  const not = chars[0] === "!" || chars[0] === "^";
  const ranges: [string, string][] = [];
  for (let at = not ? 1 : 0; at < chars.length; at++) {
    const from = chars[at] ?? "";
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    ranges.push([from, isRange ? chars[at + 2] ?? from : from]);
    if (isRange) at += 2;
  }
  return { kind: "class", not, ranges };
}

interface MatchRules<P, I> {
  isMany(pattern: P): boolean;
  fits(pattern: P, item: I): boolean;
}

const TOKENS: MatchRules<GlobToken, string> = { isMany: (token) => token.kind === "many", fits: fitsToken };
export const SEGMENTS: MatchRules<GlobSegment, string> = {
  isMany: (segment) => segment === "**",
  fits: (segment, name) => segment !== "**" && matchRun(segment, [...name], TOKENS),
};

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
