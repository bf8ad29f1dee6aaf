import type { OpenFolder, Tree } from "../tree/tree.ts";

const NAMES = [".git", ".vis"];
const MAX_KNOWN = 10_000;

/** Identifies guarded folders by their identity instead of their names, which may change between a check and a write. */
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
    const isRepository = folder.look("HEAD") !== null && folder.look("objects") !== null &&
      folder.look("refs") !== null;
    if (!isRepository && !this.#known.has(folder.facts.id)) return;
    throw new RangeError("Files below .git/ and .vis/ are protected, whatever the folder is called");
  }
}
