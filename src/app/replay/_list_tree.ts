import { join } from "node:path";
import { isUnreadable } from "./_remove_tree.ts";

export interface TreeEntry {
  /** Path below the folder; "" for the folder itself. */
  readonly path: string;
  readonly info: Deno.FileInfo;
}

/** Lists folders, files and links of a folder, each folder before its contents; `leftOut` counts sockets, devices and
 * unreadable entries. `wanted` decides whether to include an entry with everything below it, and may throw. */
export async function listTree(
  folder: string,
  wanted: (entry: TreeEntry) => boolean,
): Promise<{ readonly entries: readonly TreeEntry[]; readonly leftOut: number }> {
  const entries: TreeEntry[] = [];
  let leftOut = 0;
  const waiting = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const entry = { path, info: await Deno.lstat(join(folder, path)) };
      const { isDirectory, isFile, isSymlink } = entry.info;
      if (!wanted(entry)) continue;
      if (isDirectory) {
        for await (const { name } of Deno.readDir(join(folder, path))) waiting.push(join(path, name));
      }
      if (isDirectory || isFile || isSymlink) entries.push(entry);
      else leftOut++;
    } catch (error) {
      if (isUnreadable(error)) leftOut++;
      else if (!(error instanceof Deno.errors.NotFound)) throw error; // it was removed meanwhile
    }
  }
  return { entries, leftOut };
}
