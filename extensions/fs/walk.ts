import { join } from "node:path";
import { IgnoreRules } from "./ignore_rules.ts";

export interface WalkEntry {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly type: "file" | "dir" | "link";
}

export interface WalkOptions {
  readonly root: string;
  /** A real folder below the root, relative; "." for the root. */
  readonly start: string;
  /** Ignored files too; `.git` never. */
  readonly all: boolean;
  /** Levels to descend; 1 is the folder's own entries. */
  readonly depth: number;
}

const NEVER = [".git", ".hg", ".svn"];
export const MAX_ENTRIES = 500_000;

/** Everything below a folder, sorted by name, folders before what is in them. Links are named and not followed;
 * folders that cannot be read are passed over. Synchronous, so that the caller decides when to rest. Throws
 * RangeError past half a million entries. */
export function* walk({ root, start, all, depth }: WalkOptions): Generator<WalkEntry> {
  let count = 0;
  const visit = function* (folder: string, rules: IgnoreRules | null, level: number): Generator<WalkEntry> {
    for (const entry of entriesOf(join(root, folder))) {
      if (NEVER.includes(entry.name)) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (rules?.ignores(path, entry.isDirectory)) continue;
      if (++count > MAX_ENTRIES) throw new RangeError(`Cannot search ${start}: more than ${MAX_ENTRIES} files`);
      const type = typeOf(entry);
      if (type === null) continue;
      yield { path, type };
      if (type === "dir" && level < depth) yield* visit(path, rules?.below(root, path) ?? null, level + 1);
    }
  };
  yield* visit(start === "." ? "" : start, all ? null : rulesFor(root, start), 1);
}

/** The rules that hold in a folder; none where the folder itself is ignored, since then it was named on purpose. */
function rulesFor(root: string, start: string): IgnoreRules | null {
  let rules = IgnoreRules.at(root);
  if (start === ".") return rules;
  const parts = start.split("/");
  for (let at = 1; at <= parts.length; at++) {
    const folder = parts.slice(0, at).join("/");
    if (rules.ignores(folder, true)) return null;
    rules = rules.below(root, folder);
  }
  return rules;
}

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch {
    return [];
  }
}

function typeOf(entry: Deno.DirEntry): WalkEntry["type"] | null {
  if (entry.isSymlink) return "link";
  if (entry.isDirectory) return "dir";
  return entry.isFile ? "file" : null;
}
