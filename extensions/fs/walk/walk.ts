import { IgnoreRules } from "./ignore_rules.ts";
import { type FolderEntry, FolderTooLarge, type Tree } from "../tree/tree.ts";

export interface WalkEntry {
  /** Relative to the workspace, with `/`, below the start as the caller named it. */
  readonly path: string;
  /** The same path without links. */
  readonly real: string;
  readonly type: "file" | "dir" | "link";
}

interface WalkOptions {
  readonly tree: Tree;
  /** A folder below the root, relative, without links; "." for the root. */
  readonly start: string;
  /** The caller's name for it, if that differs. */
  readonly named?: string;
  /** Includes ignored files, but never `.git`. */
  readonly all: boolean;
  /** Levels to descend; 1 is the folder's own entries. */
  readonly depth: number;
}

/** Internal folders of version control systems. */
const NEVER: readonly string[] = [".git", ".hg", ".svn"];
const REST_EVERY = 32;
export const MAX_ENTRIES = 500_000;

interface OpenFolder {
  readonly path: string;
  readonly real: string;
  readonly rules: IgnoreRules | null;
  readonly entries: readonly FolderEntry[];
  /** Index of the entry that comes next. */
  next: number;
}

/** Everything below a folder, sorted by name, folders before their contents. Links are listed but not followed;
 * unreadable folders are skipped. Synchronous, so that the caller decides when to pause: it yields null if nothing was
 * found for a while. Throws RangeError above half a million entries, and for a folder that is too large to be listed. */
export function* walk({ tree: from, start, named = start, all, depth }: WalkOptions): Generator<WalkEntry | null> {
  using tree = from.held();
  let count = 0;
  let passed = 0;
  const below = (folder: string, name: string): string => folder === "" ? name : `${folder}/${name}`;
  const opened = (at: Pick<OpenFolder, "path" | "real">, rules: IgnoreRules | null): OpenFolder => {
    const entries = entriesOf(tree, at.real);
    return { ...at, entries, rules: rules?.below(at.real, entries) ?? null, next: 0 };
  };
  const first = { path: named === "." ? "" : named, real: start === "." ? "" : start };
  const open = [opened(first, all ? null : rulesAbove(tree, start))];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const entry = at.entries[at.next++];
    if (entry === undefined) {
      open.pop();
      continue;
    }
    if (NEVER.includes(entry.name)) continue;
    const real = below(at.real, entry.name);
    if (at.rules?.ignores(real, entry.kind === "dir")) {
      if (++passed % REST_EVERY === 0) yield null;
      continue;
    }
    if (++count > MAX_ENTRIES) throw new RangeError(`Cannot search ${start}: more than ${MAX_ENTRIES} files`);
    if (entry.kind === "other") continue;
    const path = below(at.path, entry.name);
    yield { path, real, type: entry.kind };
    if (entry.kind === "dir" && open.length < depth) open.push(opened({ path, real }, at.rules));
  }
}

/** The rules of all parent folders; none if the folder itself is ignored, since it was then named on purpose. */
function rulesAbove(tree: Tree, start: string): IgnoreRules | null {
  let rules = IgnoreRules.of(tree);
  if (start === ".") return rules;
  const parts = start.split("/");
  for (let at = 0; at < parts.length; at++) {
    const above = parts.slice(0, at).join("/");
    rules = rules.below(above, entriesOf(tree, above));
    if (rules.ignores(parts.slice(0, at + 1).join("/"), true)) return null;
  }
  return rules;
}

function entriesOf(tree: Tree, folder: string): readonly FolderEntry[] {
  try {
    return [...tree.entries(folder || ".")].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (error instanceof FolderTooLarge) throw error;
    return [];
  }
}

/** The size of a file in bytes; 0 if it is gone. */
export function sizeAt(tree: Tree, path: string): number {
  try {
    return tree.look(path)?.size ?? 0;
  } catch {
    return 0;
  }
}
