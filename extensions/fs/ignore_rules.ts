import ignore, { type Ignore } from "ignore";
import { globalIgnoreLines } from "./global_ignore.ts";
import { readSmall } from "./read_small.ts";
import type { Entry, Tree } from "./tree.ts";

const MAX_BYTES = 256 * 1024;
const MAX_RULE = 500;
const ALWAYS = ["node_modules/", "__pycache__/", ".venv/"];

export interface RuleSet {
  /** Folder of the rules relative to the workspace, "" or with a trailing slash. */
  readonly base: string;
  readonly rules: Ignore;
}

/** The `.gitignore` files that hold for one folder, outermost first. Immutable: going down makes another. */
export class IgnoreRules {
  readonly #tree: Tree;
  readonly #sets: readonly RuleSet[];

  constructor(tree: Tree, sets: readonly RuleSet[]) {
    this.#tree = tree;
    this.#sets = sets;
  }

  /** What holds everywhere: the user's own rules and the repository's `info/exclude`. Those of `.gitignore` at the root
   * come with `below("", …)`. */
  static of(tree: Tree, globalLines: readonly string[] = globalIgnoreLines()): IgnoreRules {
    const sets = [{ base: "", rules: ignore().add([...ALWAYS, ...globalLines.filter(isCheap)]) }];
    return new IgnoreRules(tree, sets).#with("", ".git/info/exclude");
  }

  /** With the rules of a folder, named relative to the workspace, "" for it. Only a folder whose `entries` have one is
   * asked for its rules. */
  below(folder: string, entries: readonly Entry[]): IgnoreRules {
    if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return this;
    const base = folder === "" ? "" : `${folder}/`;
    return this.#with(base, `${base}.gitignore`);
  }

  ignores(path: string, isFolder: boolean): boolean {
    let ignored = false;
    for (const { base, rules } of this.#sets) {
      const told = rules.test(`${path.slice(base.length)}${isFolder ? "/" : ""}`);
      if (told.ignored) ignored = true;
      else if (told.unignored) ignored = false;
    }
    return ignored;
  }

  #with(base: string, file: string): IgnoreRules {
    const text = readSmall(this.#tree, file, { most: MAX_BYTES });
    const lines = (text ?? "").split(/\r?\n/).filter(isCheap);
    if (lines.length === 0) return this;
    return new IgnoreRules(this.#tree, [...this.#sets, { base, rules: ignore().add(lines) }]);
  }
}

/** The library turns a rule into a backtracking expression, and a rule comes from the repository: one with many stars
 * in one name could hang the process, and none is written in earnest. */
function isCheap(rule: string): boolean {
  if (rule.trim() === "" || rule.length > MAX_RULE) return false;
  const stars = rule.split("/").map((part) => part.replace(/\*\*+/g, "*").split("*").length - 1);
  return stars.every((count) => count <= 3) && stars.reduce((sum, count) => sum + count, 0) <= 6;
}
