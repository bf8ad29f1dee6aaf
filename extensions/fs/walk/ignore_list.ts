import { matchRun, SEGMENTS } from "./match_run.ts";
import { type GlobSegment, tokensOf } from "./glob_tokens.ts";

interface Rule {
  readonly not: boolean;
  readonly foldersOnly: boolean;
  /** The name alone, where the rule is about that and has no wildcard. */
  readonly name: string | null;
  readonly segments: readonly GlobSegment[];
}

const MAX_RULES = 2_000;
const MAX_RULE = 500;

/** The lines of one ignore file, as gitignore(5) reads them. Ours, because libraries translate rules to backtracking
 * expressions, and rules come from the repository: the time here is at most the length of the rule times that of the
 * path. */
export class IgnoreList {
  readonly #rules: readonly Rule[];

  constructor(lines: readonly string[]) {
    this.#rules = lines.slice(0, MAX_RULES).flatMap(ruleOf);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** What the last rule that fits says of a path relative to the list's folder: whether it is ignored; null where none
   * fits. Rules for the folders above are the caller's to ask for. */
  decide(path: string, isFolder: boolean): boolean | null {
    const parts = path.split("/");
    const name = parts.at(-1);
    for (let at = this.#rules.length - 1; at >= 0; at--) {
      const rule = this.#rules[at];
      if (!rule || (rule.foldersOnly && !isFolder)) continue;
      if (rule.name !== null ? rule.name === name : matchRun(rule.segments, parts, SEGMENTS)) return !rule.not;
    }
    return null;
  }
}

function ruleOf(line: string): Rule[] {
  if (line.startsWith("#") || line.length > MAX_RULE) return [];
  const text = withoutEnd(line);
  const not = text.startsWith("!");
  const pattern = not ? text.slice(1) : text;
  const foldersOnly = pattern.endsWith("/");
  const plain = foldersOnly ? pattern.slice(0, -1) : pattern;
  const parts = plain.split("/").filter((part) => part !== "");
  const [first] = parts;
  if (first === undefined) return [];
  if (!plain.includes("/")) {
    const name = /[*?[\\]/.test(first) ? null : first;
    return [{ not, foldersOnly, name, segments: ["**", tokensOf(first)] }];
  }
  const segments = parts.map((part): GlobSegment => part === "**" ? "**" : tokensOf(part));
  return [{ not, foldersOnly, name: null, segments: parts.at(-1) === "**" ? [...segments, tokensOf("*")] : segments }];
}

/** Blanks at the end do not count unless a backslash stands before them. */
function withoutEnd(line: string): string {
  const text = line.trimEnd();
  const slashes = text.length - text.replace(/\\{1,500}$/, "").length;
  return slashes % 2 === 1 && text.length < line.length ? `${text} ` : text;
}
