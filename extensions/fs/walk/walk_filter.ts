import { IgnoreRules } from "./ignore_rules.ts";
import type { FolderEntry, Tree } from "../tree/tree.ts";
import { NEVER } from "./walk.ts";

/** Whether a walk from the root would visit a file, without walking. */
export class WalkFilter {
  readonly #tree: Tree;
  readonly #all: boolean;
  /** Rules per folder; null if it is not walked. */
  readonly #folders = new Map<string, IgnoreRules | null>();
  readonly #base: IgnoreRules;

  constructor(tree: Tree, { all }: { readonly all: boolean }) {
    this.#tree = tree;
    this.#all = all;
    this.#base = IgnoreRules.of(tree);
  }

  file(path: string): boolean {
    const [folder, name] = split(path);
    const rules = this.#rulesOf(folder);
    return rules !== null && !NEVER.includes(name) && (this.#all || !rules.ignores(path, false));
  }

  #rulesOf(folder: string): IgnoreRules | null {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const rules = this.#read(folder);
    this.#folders.set(folder, rules);
    return rules;
  }

  #read(folder: string): IgnoreRules | null {
    if (folder === "") return this.#base.below("", this.#entries("."));
    const [above, name] = split(folder);
    const rules = this.#rulesOf(above);
    if (rules === null || NEVER.includes(name) || (!this.#all && rules.ignores(folder, true))) return null;
    return rules.below(folder, this.#entries(folder));
  }

  #entries(folder: string): readonly FolderEntry[] {
    try {
      return this.#tree.entries(folder);
    } catch {
      return [];
    }
  }
}

function split(path: string): readonly [string, string] {
  const at = path.lastIndexOf("/");
  return [path.slice(0, Math.max(at, 0)), path.slice(at + 1)];
}
