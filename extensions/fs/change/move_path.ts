import type { ChangeItem, PathSnapshot } from "../checkpoints.ts";
import { confineEntryForWrite, isGuarded, MAX_DEPTH, regionOf, type WorkspacePath } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { missing } from "../find_files.ts";
import { changeFiles, MAX_KEPT, takeSnapshot } from "./change_files.ts";
import { currentFile } from "./current_file.ts";
import { revealAt } from "../read/read_place.ts";
import type { Facts } from "../tree/tree.ts";
import { diffHead } from "../patch/unified_diff.ts";
import { advised, Pace, retold } from "@vis/extension";
import { dirname, join } from "node:path";

interface Moved {
  readonly from: string;
  readonly to: string;
  readonly files: number;
  readonly diff: string;
}

export async function movePath(
  context: FsContext,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Moved> {
  const place = confineEntryForWrite(context, from);
  if (place.info === null) throw await missing(context, { action: "move", path: place.path });
  const target = confineEntryForWrite(context, to);
  if (target.info?.kind === "dir") {
    const inside = `${target.path}/${place.path.slice(place.path.lastIndexOf("/") + 1)}`;
    throw advised(
      new Error(`Cannot move ${place.path}: ${target.path} is a folder`),
      `call fs.move with the target ${inside}`,
    );
  }
  if (target.info !== null) {
    throw advised(
      new Error(`Cannot move ${place.path}: ${target.path} already exists`),
      "choose another name or remove it first",
    );
  }
  if (`${target.real}/`.startsWith(`${place.real}/`)) {
    throw advised(new Error(`Cannot move ${place.path}: ${target.path} is inside it`), "choose a target outside");
  }
  const gone = await treeItems(context, place, { action: "move" });
  const moved = (path: string): string => `${target.real}${path.slice(place.real.length)}`;
  const made = gone.map(({ path, before }) => ({ path: moved(path), before: null, after: before }));
  for (const { path } of gone) revealAt(context, { path: moved(path), real: moved(path) }, path);
  const moves = [{ from: place.real, to: target.real }], targets: string[] = [];
  const crosses = regionOf(context, place.real) !== regionOf(context, target.real);
  for (const { path, after } of crosses ? made : []) {
    if (after?.kind !== "link") continue;
    const link = { place: { path, real: path }, target: after.target, action: "move" } as const;
    targets.push(innerTarget(context, link));
  }
  await changeFiles(context, { change: "move", items: [...gone, ...made], moves, targets });
  for (const { path } of gone) {
    const { root, ledger, conversationId } = context;
    ledger.moved(conversationId, { from: `${root}/${path}`, to: `${root}/${moved(path)}` });
  }
  const files = gone.filter(({ before }) => before.kind !== "dir").length;
  return {
    from: place.path,
    to: target.path,
    files,
    diff: diffHead(place.path, target.path),
  };
}

export interface RemoveOptions {
  readonly recursive?: boolean | undefined;
}

interface Removed {
  readonly path: string;
  readonly files: number;
  readonly diff: string;
}

export async function removePath(
  context: FsContext,
  path: string,
  { recursive = false }: RemoveOptions = {},
): Promise<Removed> {
  const place = confineEntryForWrite(context, path);
  if (place.info === null) throw await missing(context, { action: "remove", path: place.path });
  if (place.info.kind === "dir" && !recursive && context.tree.entries(place.real).length > 0) {
    throw advised(
      new Error(`Cannot remove ${place.path}: the folder is not empty`),
      "pass {recursive: true} to remove its content too",
    );
  }
  const items = await treeItems(context, place, { action: "remove" });
  await changeFiles(context, { change: "remove", items });
  const files = items.filter(({ before }) => before.kind !== "dir").length;
  return { path: place.path, files, diff: diffHead(place.path, null) };
}

const MAX_ITEMS = 2_000;

export async function treeItems(
  context: FsContext,
  place: WorkspacePath,
  { action }: { readonly action: string },
): Promise<readonly (ChangeItem & { readonly before: NonNullable<PathSnapshot> })[]> {
  const items: (ChangeItem & { readonly before: NonNullable<PathSnapshot> })[] = [];
  const pace = new Pace(context.signal);
  let bytes = 0;
  const visit = async (path: string): Promise<void> => {
    const seen = context.tree.look(path);
    const before = await snapshotOf(context, path, { action, left: MAX_KEPT - bytes, info: seen });
    if (before === null) return;
    bytes += before.kind === "file" ? before.bytes.length : 0;
    if (items.length === MAX_ITEMS) {
      throw advised(
        new RangeError(
          `Cannot ${action} ${place.path}: it has more than ${MAX_ITEMS} files and folders, the limit of undo`,
        ),
        "name folders in it",
      );
    }
    if (path.split("/").length > MAX_DEPTH) {
      throw advised(
        new RangeError(`Cannot ${action} ${place.path}: it contains a path of more than ${MAX_DEPTH} names, the limit`),
        "name paths in it",
      );
    }
    items.push({ path, before, after: null, seen });
    if (pace.due) await pace.rest();
    if (before.kind !== "dir") return;
    for (const { name } of [...context.tree.entries(path)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (isGuarded(name)) {
        throw advised(
          new RangeError(`Cannot ${action} ${place.path}: it contains ${name}, which is protected`),
          "name other paths in it",
        );
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
  { action, left, info }: { readonly action: string; readonly left: number; readonly info: Facts | null },
): Promise<PathSnapshot> {
  if (info?.kind === "other") throw new RangeError(`Cannot ${action} ${path}: it is not a regular file`);
  if (info?.kind !== "file") return await takeSnapshot(context, path);
  if (info.size > left) {
    throw advised(
      new RangeError(
        `Cannot ${action} ${path}: with this file, the call would ${action} ${
          MAX_KEPT - left + info.size
        } bytes, and undo keeps ` +
          `at most ${MAX_KEPT} bytes`,
      ),
      info.size > MAX_KEPT ? `${action} it with a command` : "name fewer files",
    );
  }
  const place = confineEntryForWrite(context, path);
  const current = await currentFile(context, place, { action, most: MAX_KEPT });
  if (current === null) return null;
  const { bytes, mode, owner, attributes } = current;
  return { kind: "file", bytes, mode, owner, attributes };
}

/** Returns the path to which a new link leads. */
export function innerTarget(
  context: FsContext,
  { place, target, action }: {
    readonly place: Pick<WorkspacePath, "path" | "real">;
    readonly target: string;
    readonly action: "patch" | "move";
  },
): string {
  const fault = (reason: string, advice: string): Error =>
    advised(new Error(`Cannot ${action} ${place.path}: the target "${target}" of the link ${reason}`), advice);
  const parts = target.split("/");
  const depth = parts.findLastIndex((part) => part === "..") + 1;
  if (target === "") throw fault("is empty", "name a path in the workspace");
  if (target.startsWith("/")) throw fault("begins with /", "write it relative to the folder of the link");
  if (parts.slice(0, depth).some((part) => part !== "..")) {
    throw fault("has .. after a folder", "write it without this ..");
  }
  try {
    return confineEntryForWrite(context, join(dirname(place.real), target)).real;
  } catch (error) {
    throw retold(
      error,
      (reason) =>
        `Cannot ${action} ${place.path}: the target "${target}" of the link is not allowed, because Vis ${reason}`,
    );
  }
}
