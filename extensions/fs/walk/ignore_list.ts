import { matchRun, SEGMENTS } from "./match_run.ts";
import { type GlobSegment, tokensOf } from "./glob_tokens.ts";

interface Rule {
  readonly not: boolean;
  readonly foldersOnly: boolean;
  /** The literal name, if the rule matches only names and has no wildcard. */
  readonly name: string | null;
  readonly segments: readonly GlobSegment[];
}

const MAX_RULES = 2_000;
const MAX_RULE = 500;

/** The lines of one ignore file, as gitignore(5) defines them. Own implementation, since libraries translate rules to
 * backtracking expressions, and rules come from the repository: here the time is at most the length of the rule times
 * that of the path. */
export class IgnoreList {
  readonly #rules: readonly Rule[];

  constructor(lines: readonly string[]) {
    this.#rules = lines.slice(0, MAX_RULES).flatMap(ruleOf);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The decision of the last matching rule for a path relative to the list's folder: whether it is ignored; null if no
   * rule matches. The caller must check the rules of parent folders. */
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

/** Removes trailing blanks unless they are escaped with a backslash. */
function withoutEnd(line: string): string {
  const text = line.trimEnd();
  const slashes = text.length - text.replace(/\\{1,500}$/, "").length;
  return slashes % 2 === 1 && text.length < line.length ? `${text} ` : text;
}
