import { type GlobSegment, tokensOf } from "./glob_tokens.ts";
import { matchRun, SEGMENTS } from "./match_run.ts";

const MAX_PATTERN = 1_000;
const MAX_PATTERNS = 1_000;
const MAX_ALTERNATIVES = 256;

/** Matches paths against glob patterns: `*` `?` `[a-z]` `{a,b}` within a name, `**` across folders; a leading `!`
 * excludes. Own implementation, since libraries translate to backtracking expressions: here the time is at most pattern
 * length times path length. */
export class GlobMatcher {
  readonly #wanted: readonly (readonly GlobSegment[])[];
  readonly #unwanted: readonly (readonly GlobSegment[])[];
  /** The deepest folder that contains all matches; "." for the root. */
  readonly start: string;
  /** Levels below `start` that can contain a match. */
  readonly depth: number;

  /** Throws RangeError for a pattern that leaves the workspace or expands to too many. */
  constructor(patterns: readonly string[]) {
    if (patterns.length > MAX_PATTERNS) {
      throw new RangeError(
        `Cannot use ${patterns.length} patterns at once: at most ${MAX_PATTERNS}; use * or ** for many names`,
      );
    }
    const wanted = patterns.filter((pattern) => !pattern.startsWith("!"));
    const chosen = wanted.length > 0 ? wanted : ["**"];
    this.#wanted = chosen.flatMap(alternatives);
    this.#unwanted = patterns.filter((pattern) => pattern.startsWith("!")).flatMap((one) => alternatives(one.slice(1)));
    const bases = this.#wanted.map(plainBase);
    const shared = commonOf(bases);
    this.start = shared.join("/") || ".";
    const depths = this.#wanted.map((one) => one.includes("**") ? Infinity : one.length - shared.length);
    this.depth = Math.max(1, ...depths);
  }

  matches(path: string): boolean {
    const parts = path.split("/");
    const fits = (pattern: readonly GlobSegment[]): boolean => matchRun(pattern, parts, SEGMENTS);
    return this.#wanted.some(fits) && !this.#unwanted.some(fits);
  }

  /** Whether a text contains pattern characters. */
  static isPattern(text: string): boolean {
    return /[*?[\]{}]|^!/.test(text);
  }
}

function alternatives(pattern: string): GlobSegment[][] {
  if (pattern.length > MAX_PATTERN) throw new RangeError(`Cannot use a pattern of ${pattern.length} characters`);
  return expand(pattern).map((one) => {
    const parts = one.split("/").filter((part) => part !== "" && part !== ".");
    if (parts.includes("..") || one.startsWith("/")) {
      throw new RangeError(`Cannot use pattern ${pattern}: patterns are relative to the workspace`);
    }
    const segments = parts.map((part): GlobSegment => part === "**" ? "**" : tokensOf(part));
    return parts.at(-1) === "**" ? [...segments, tokensOf("*")] : segments;
  });
}

/** Expands `a{b,c}` to `ab` and `ac`, including nested braces. */
function expand(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const one = open.pop() ?? "";
    const found = innermost(one);
    if (!found) done.unshift(one);
    else open.push(...found.parts.map((part) => `${one.slice(0, found.from)}${part}${one.slice(found.to)}`));
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw new RangeError(`Cannot use pattern ${pattern}: it stands for more than ${MAX_ALTERNATIVES} patterns`);
    }
  }
  return done;
}

function innermost(pattern: string): { readonly from: number; readonly to: number; readonly parts: string[] } | null {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  return found ? { from: found.index, to: found.index + found[0].length, parts: (found[1] ?? "").split(",") } : null;
}

/** The leading names without wildcards, except the last one, which is the entry itself. */
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
