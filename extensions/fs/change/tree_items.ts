import { confineEntryForWrite, MAX_DEPTH, type WorkspacePath } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { currentFile } from "./current_file.ts";
import { isGuarded } from "../workspace/guard.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { sizeText } from "../tree/size_text.ts";
import type { ChangeItem, PathSnapshot } from "../checkpoints/snapshot.ts";
import { MAX_KEPT, takeSnapshot } from "./take_snapshot.ts";

const MAX_ITEMS = 2_000;

/** Everything at and below a place as items to remove, folders before their contents. Throws RangeError for guarded
 * paths and for more than can be undone, and Error for a file that changed since it was read. */
export async function treeItems(
  context: FsContext,
  place: WorkspacePath,
  { action }: { readonly action: string },
): Promise<readonly (ChangeItem & { readonly before: NonNullable<PathSnapshot> })[]> {
  const items: (ChangeItem & { readonly before: NonNullable<PathSnapshot> })[] = [];
  const pace = new Pace(context.signal);
  let bytes = 0;
  const visit = async (path: string): Promise<void> => {
    const before = await snapshotOf(context, path, { action, left: MAX_KEPT - bytes });
    if (before === null) return;
    bytes += before.kind === "file" ? before.bytes.length : 0;
    if (items.length === MAX_ITEMS) {
      throw new RangeError(`Cannot ${action} ${place.path}: over ${MAX_ITEMS} files, too many to be undone`);
    }
    if (path.split("/").length > MAX_DEPTH) {
      throw new RangeError(`Cannot ${action} ${place.path}: there are paths of over ${MAX_DEPTH} folders in it`);
    }
    items.push({ path, before, after: null });
    if (pace.due) await pace.rest();
    if (before.kind !== "dir") return;
    for (const { name } of [...context.tree.entries(path)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (isGuarded(name)) {
        throw new RangeError(`Cannot ${action} ${place.path}: there is ${name}/ in it, which is protected`);
      }
      await visit(`${path}/${name}`);
    }
  };
  await visit(place.real);
  return items;
}

async function snapshotOf(
  context: FsContext,
  path: string,
  { action, left }: { readonly action: string; readonly left: number },
): Promise<PathSnapshot> {
  const info = context.tree.look(path);
  if (info?.kind === "other") throw new RangeError(`Cannot ${action} ${path}: it is not a regular file`);
  if (info?.kind !== "file") return await takeSnapshot(context, path);
  if (info.size > left) {
    throw new RangeError(
      `Cannot ${action} ${path}: ${sizeText(info.size)} with what is beside it is over 64 MB, too much to be undone`,
    );
  }
  const place = confineEntryForWrite(context, path);
  const current = await currentFile(context, place, { action, most: MAX_KEPT });
  if (current === null) return null;
  const { bytes, mode, owner, attributes } = current;
  return { kind: "file", bytes, mode, owner, attributes };
}
