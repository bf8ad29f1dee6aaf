import { globalIgnoreLines } from "./global_ignore.ts";
import { IgnoreList } from "./ignore_list.ts";
import type { FolderEntry, Tree } from "../tree/tree.ts";

/** The text of a small regular file; null if there is none or it is larger. */
function readSmall(tree: Tree, path: string, { most }: { readonly most: number }): string | null {
  try {
    using file = tree.open(path);
    if (file.facts.size > most) return null;
    const bytes = new Uint8Array(file.facts.size);
    return new TextDecoder().decode(bytes.subarray(0, file.read(bytes)));
  } catch {
    return null;
  }
}

const MAX_BYTES = 256 * 1024;
const ALWAYS = ["node_modules/", "__pycache__/", ".venv/"];

interface RuleSet {
  /** Folder of the rules relative to the workspace, "" or with a trailing slash. */
  readonly base: string;
  readonly rules: IgnoreList;
}

/** The `.gitignore` files that apply to one folder, outermost first. Immutable: descending creates a new one. */
export class IgnoreRules {
  readonly #tree: Tree;
  readonly #sets: readonly RuleSet[];

  constructor(tree: Tree, sets: readonly RuleSet[]) {
    this.#tree = tree;
    this.#sets = sets;
  }

  /** Rules that apply everywhere: the user's own and the repository's `info/exclude`. The `.gitignore` at the root is
   * added by `below("", …)`. */
  static of(tree: Tree, globalLines: readonly string[] = globalIgnoreLines()): IgnoreRules {
    const sets = [{ base: "", rules: new IgnoreList([...ALWAYS, ...globalLines]) }];
    return new IgnoreRules(tree, sets).#with("", ".git/info/exclude");
  }

  /** Adds the rules of a folder, given relative to the workspace, "" for itself. Reads them only if `entries` contain a
   * `.gitignore`. */
  below(folder: string, entries: readonly FolderEntry[]): IgnoreRules {
    if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return this;
    const base = folder === "" ? "" : `${folder}/`;
    return this.#with(base, `${base}.gitignore`);
  }

  ignores(path: string, isFolder: boolean): boolean {
    let ignored = false;
    for (const { base, rules } of this.#sets) {
      ignored = rules.decide(path.slice(base.length), isFolder) ?? ignored;
    }
    return ignored;
  }

  #with(base: string, file: string): IgnoreRules {
    const text = readSmall(this.#tree, file, { most: MAX_BYTES });
    const rules = new IgnoreList((text ?? "").split(/\r?\n/));
    return rules.isEmpty ? this : new IgnoreRules(this.#tree, [...this.#sets, { base, rules }]);
  }
}
