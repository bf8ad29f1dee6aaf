import { plainName } from "./guard.ts";
import type { OpenFolder, Tree } from "../tree/tree.ts";

const NAMES = [".git", ".vis"];
const MAX_KNOWN = 10_000;
/** Entries of a repository that decide what git runs and where it looks. */
const OF_REPOSITORY: ReadonlySet<string> = new Set(
  "head commondir objects refs config config.worktree hooks info modules worktrees packed-refs index".split(" "),
);

/** Identifies guarded folders by their identity and contents instead of their names, which may change between a check
 * and a write. */
export class FolderGuard {
  readonly #known = new Set<string>();

  /** Records the current guarded folders of a workspace. */
  note(tree: Tree): void {
    for (const name of NAMES) {
      const facts = tree.look(name);
      if (facts?.kind === "dir") this.#known.add(facts.id);
    }
    for (const id of this.#known) {
      if (this.#known.size <= MAX_KNOWN) return;
      this.#known.delete(id);
    }
  }

  /** Throws RangeError for a guarded folder under another name. */
  check(folder: OpenFolder): void {
    if (!isRepository((name) => folder.look(name) !== null) && !this.#known.has(folder.facts.id)) return;
    throw new RangeError("Files below .git/ and .vis/ are protected, whatever the folder is called");
  }

  /** Throws RangeError for a path in a workspace that is a repository's own folder, if git obeys what is there. The
   * rest, such as worktrees, is as elsewhere. */
  checkRoot(tree: Tree, path: string): void {
    const [first = ""] = path.split("/");
    if (!OF_REPOSITORY.has(plainName(first)) || !isRepository((name) => tree.look(name) !== null)) return;
    throw new RangeError("The workspace is a repository's own folder, in which this is protected");
  }

  /** Call it before an entry is made. Throws RangeError if git would take the folder for a repository from then on:
   * its settings can name commands, which run when somebody calls git there. */
  checkNew(folder: OpenFolder, name: string): void {
    const made = plainName(name);
    if (!OF_REPOSITORY.has(made)) return;
    if (isRepository((one) => folder.look(one) !== null)) return; // it is one already
    if (!isRepository((one) => one.toLowerCase() === made || folder.look(one) !== null)) return;
    throw new RangeError("With it, git would take its folder for a repository, whose settings can run commands");
  }
}

/** What git takes for a repository, whatever the contents and kinds of these entries. */
function isRepository(has: (name: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}
