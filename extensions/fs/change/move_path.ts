import { changeFiles } from "./change_files.ts";
import { confineEntryForWrite } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { missing } from "../workspace/missing.ts";
import { treeItems } from "./tree_items.ts";

export interface Moved {
  readonly from: string;
  readonly to: string;
  /** Number of files and links that were moved. */
  readonly files: number;
  /** Names both paths only. */
  readonly diff: string;
}

/** Renames a file, a link or a folder and creates missing folders. Never overwrites. */
export async function movePath(
  context: FsContext,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Moved> {
  const place = confineEntryForWrite(context, from);
  if (place.info === null) throw await missing(context, { action: "move", path: place.path });
  const target = confineEntryForWrite(context, to);
  if (target.info?.kind === "dir") {
    const inside = `${target.path}/${place.path.slice(place.path.lastIndexOf("/") + 1)}`;
    throw new Error(`Cannot move ${place.path}: ${target.path} is a folder; fs.move to ${inside}`);
  }
  if (target.info !== null) throw new Error(`Cannot move ${place.path}: ${target.path} already exists`);
  if (`${target.real}/`.startsWith(`${place.real}/`)) {
    throw new Error(`Cannot move ${place.path}: ${target.path} is inside it`);
  }
  const gone = await treeItems(context, place, { action: "move" });
  const made = gone.map(({ path, before }) => (
    { path: `${target.real}${path.slice(place.real.length)}`, before: null, after: before }
  ));
  const moves = [{ from: place.real, to: target.real }];
  await changeFiles(context, { change: "move", items: [...gone, ...made], moves });
  const files = gone.filter(({ before }) => before.kind !== "dir").length;
  return { from: place.path, to: target.path, files, diff: `--- a/${place.path}\n+++ b/${target.path}\n` };
}
