import { changeFiles } from "./change_files.ts";
import { confineEntryForWrite } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { missing } from "../workspace/missing.ts";
import { treeItems } from "./tree_items.ts";

export interface RemoveOptions {
  /** Removes a folder with its contents. */
  readonly recursive?: boolean | undefined;
}

export interface Removed {
  readonly path: string;
  /** Number of files and links that were removed. */
  readonly files: number;
  /** Names the path only. */
  readonly diff: string;
}

/** Removes a file, a link (not its target) or a folder. */
export async function removePath(
  context: FsContext,
  path: string,
  { recursive = false }: RemoveOptions = {},
): Promise<Removed> {
  const place = confineEntryForWrite(context, path);
  if (place.info === null) throw await missing(context, { action: "remove", path: place.path });
  if (place.info.kind === "dir" && !recursive && context.tree.entries(place.real).length > 0) {
    throw new Error(`Cannot remove ${place.path}: it is a folder that is not empty; {recursive: true} removes it`);
  }
  const items = await treeItems(context, place, { action: "remove" });
  await changeFiles(context, { change: "remove", items });
  const files = items.filter(({ before }) => before.kind !== "dir").length;
  return { path: place.path, files, diff: `--- a/${place.path}\n+++ /dev/null\n` };
}
