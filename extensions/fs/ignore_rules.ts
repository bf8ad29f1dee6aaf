import ignore, { type Ignore } from "ignore";
import { join } from "node:path";

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
  readonly #sets: readonly RuleSet[];

  constructor(sets: readonly RuleSet[]) {
    this.#sets = sets;
  }

  /** The rules at the workspace's root. */
  static at(root: string): IgnoreRules {
    const base = new IgnoreRules([{ base: "", rules: ignore().add(ALWAYS) }]);
    return base.#with("", join(root, ".git", "info", "exclude")).#with("", join(root, ".gitignore"));
  }

  /** With the rules of a folder below, named relative to the workspace. */
  below(root: string, folder: string): IgnoreRules {
    return this.#with(`${folder}/`, join(root, folder, ".gitignore"));
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
    const rules = readRules(file);
    return rules === null ? this : new IgnoreRules([...this.#sets, { base, rules }]);
  }
}

function readRules(file: string): Ignore | null {
  try {
    const info = Deno.lstatSync(file);
    if (!info.isFile || info.size > MAX_BYTES) return null;
    const lines = Deno.readTextFileSync(file).split(/\r?\n/).filter(isCheap);
    return lines.length > 0 ? ignore().add(lines) : null;
  } catch {
    return null;
  }
}

/** The library turns a rule into a backtracking expression, and a rule comes from the repository: one with many stars
 * in one name could hang the process, and none is written in earnest. */
function isCheap(rule: string): boolean {
  if (rule.trim() === "" || rule.length > MAX_RULE) return false;
  const stars = rule.split("/").map((part) => part.replace(/\*\*+/g, "*").split("*").length - 1);
  return stars.every((count) => count <= 3) && stars.reduce((sum, count) => sum + count, 0) <= 6;
}
