import type { ChangeItem } from "../checkpoints.ts";
import type { FsContext } from "../context.ts";
import type { Facts, OpenFolder } from "../tree/tree.ts";
import { advised, Pace, reasonOf } from "@vis/extension";
import { dirname } from "node:path";

function writeReason(error: unknown): string {
  if (error instanceof Deno.errors.PermissionDenied) return "access is denied";
  if (error instanceof Deno.errors.NotADirectory) return "a part of its path is not a folder";
  if (error instanceof Deno.errors.AlreadyExists) return "a file or folder with that name already exists";
  if (error instanceof Deno.errors.IsADirectory) return "it is not a regular file";
  if (error instanceof Deno.errors.NotFound) return "the file or its folder no longer exists";
  if (error instanceof Deno.errors.FilesystemLoop) return "a part of its path has become a link";
  return reasonOf(error).replace(/, \w+ '.*$/, "");
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

interface Application {
  readonly items: readonly ChangeItem[];
  readonly moves?: readonly Move[];
  readonly temporary: ReadonlyMap<string, string>;
  readonly keepFull?: boolean;
}

type Place = Pick<FsContext, "tree" | "guard">;

/** While the folder stays open, `KernelTree` can remove a temporary file even after another program moved the
 * folder. */
const MOST_HELD = 100;

export function temporaryNames(context: Place, items: readonly ChangeItem[]): ReadonlyMap<string, string> {
  const staysInPlace = ({ path, before, from = path }: ChangeItem): boolean => {
    if (before?.kind !== "file" && from === path) return false;
    using folder = openFolder(context, from);
    return naming(path, () => folder.staysInPlace(lastOf(from)));
  };
  const replaced = items.filter((item) =>
    item.after?.kind === "file" && !isOnlyRenamed(item, items) && !staysInPlace(item)
  );
  return new Map(replaced.map(({ path }) => [path, temporaryOf(newFolderOf(items, path) ?? path)]));
}

function newFolderOf(items: readonly ChangeItem[], path: string): string | null {
  return items.find((one) => isNewFolder(one) && (path === one.path || path.startsWith(`${one.path}/`)))?.path ?? null;
}

function isNewFolder({ before, after }: ChangeItem): boolean {
  return before !== null && before.kind !== "dir" && after?.kind === "dir";
}

export function isOnlyRenamed({ from, after }: ChangeItem, items: readonly ChangeItem[]): boolean {
  const before = from === undefined ? null : items.find(({ path }) => path === from)?.before ?? null;
  if (before?.kind !== "file" || after?.kind !== "file" || before.mode !== after.mode) return false;
  return before.bytes.length === after.bytes.length && before.bytes.every((byte, at) => byte === after.bytes[at]);
}

/** After a failure, new folders and finished changes remain, and the caller must revert them. */
export async function applyItems(context: Place, application: Application): Promise<void> {
  const { items, moves = [], temporary } = application;
  context.guard.note(context.tree);
  const pace = new Pace(), held = new Map<string, OpenFolder>();
  try {
    for (const { path, before, after } of items) {
      if (pace.due) await pace.rest();
      const comes = moves.some(({ to }) => path === to || path.startsWith(`${to}/`));
      if (after?.kind === "dir" && before === null && !comes && newFolderOf(items, path) === null) {
        addIn(context, path, (folder, name) => makeOnce(folder, name, after.mode));
      }
    }
    for (const { path, after } of items) {
      const name = temporary.get(path);
      if (after?.kind !== "file" || name === undefined) continue;
      const folder = openFolder(context, name, path);
      if (held.size < MOST_HELD) held.set(name, folder);
      try {
        await folder.create(lastOf(name), after).catch((error: unknown) => {
          throw named(path, error);
        });
      } finally {
        if (held.get(name) !== folder) folder[Symbol.dispose]();
      }
    }
    await rearrange(context, application);
  } catch (error) {
    for (const name of temporary.values()) {
      const folder = held.get(name);
      if (folder) quietly(() => folder.remove(lastOf(name)));
      else quietly(() => inFolderOf(context, name, (one, own) => one.remove(own)));
    }
    throw error;
  } finally {
    for (const folder of held.values()) folder[Symbol.dispose]();
  }
}

async function rearrange(context: Place, application: Application): Promise<void> {
  const { items, moves = [], temporary, keepFull = false } = application;
  const pace = new Pace();
  for (const { path, before, after, seen } of items) {
    if (pace.due) await pace.rest();
    // A new entry changes the modification time of its folder, so Vis does not compare folders.
    if (seen !== undefined && before?.kind !== "dir" && after?.kind !== "dir") refuseChanged(context, { path, seen });
  }
  if (moves.length > 0) {
    for (const move of moves) rename(context, move);
    return;
  }
  const removed = items.filter(({ before, after }) => before !== null && before.kind !== after?.kind).toReversed();
  const sources = new Set(items.map(({ from }) => from));
  for (const { path, before } of removed.filter(({ before }) => before?.kind !== "dir")) {
    if (pace.due) await pace.rest();
    if (before && !sources.has(path)) inFolderOf(context, path, (folder, name) => folder.remove(name));
  }
  for (const { path, from } of items) if (from !== undefined) rename(context, { from, to: path });
  for (const { path, before } of removed) {
    if (before?.kind !== "dir") continue;
    if (pace.due) await pace.rest();
    if (keepFull) quietly(() => inFolderOf(context, path, (folder, name) => folder.removeFolder(name)));
    else inFolderOf(context, path, (folder, name) => folder.removeFolder(name));
  }
  for (const { path, after } of items.toSorted((a, b) => a.path < b.path ? -1 : 1)) {
    if (after?.kind !== "dir" || newFolderOf(items, path) === null) continue;
    addIn(context, path, (folder, name) => makeOnce(folder, name, after.mode));
  }
  for (const item of items) {
    const { path, before, after, from } = item;
    if (before?.kind !== "file" && from === undefined || after?.kind !== "file" || temporary.has(path)) continue;
    if (isOnlyRenamed(item, items)) continue;
    using folder = openFolder(context, path);
    await folder.overwrite(lastOf(path), after).catch((error: unknown) => {
      throw named(path, error);
    });
  }
  for (const { path, before, after } of items) {
    if (pace.due) await pace.rest();
    const written = temporary.get(path);
    if (after === null || after.kind === "dir") continue;
    addIn(context, path, (folder, name) => {
      if (written) inFolderOf(context, written, (own, from) => own.rename(from, { folder, name }));
      if (after.kind === "link" && before?.kind === "link") folder.remove(name);
      if (after.kind === "link") folder.makeLink(name, after.target);
    });
  }
}

function rename(context: Place, { from, to }: Move): void {
  using target = openFolder(context, to);
  naming(to, () => context.guard.checkNew(target, lastOf(to)));
  inFolderOf(context, from, (folder, name) => {
    folder.rename(name, { folder: target, name: lastOf(to), keep: true });
  });
}

function refuseChanged(context: Place, { path, seen }: { readonly path: string; readonly seen: Facts | null }): void {
  let now: Facts | null = null;
  naming(path, () => now = context.tree.look(path));
  if (isSameFile(now, seen)) return;
  throw advised(
    new Error(`Cannot change ${path}: it changed on disk during the call`),
    "read it again and redo the change",
  );
}

function isSameFile(a: Facts | null, b: Facts | null): boolean {
  if (a === null || b === null) return a === b;
  return a.id === b.id && a.size === b.size && a.modified === b.modified && a.kind === b.kind;
}

function makeOnce(folder: OpenFolder, name: string, mode: number | null): void {
  if (folder.look(name)?.kind !== "dir") folder.makeFolder(name, mode ?? undefined);
}

function inFolderOf(context: Place, path: string, use: (folder: OpenFolder, name: string) => void): void {
  using folder = openFolder(context, path);
  naming(path, () => use(folder, lastOf(path)));
}

function addIn(context: Place, path: string, add: (folder: OpenFolder, name: string) => void): void {
  inFolderOf(context, path, (folder, name) => {
    context.guard.checkNew(folder, name);
    add(folder, name);
  });
}

function openFolder({ tree, guard }: Place, path: string, named = path): OpenFolder {
  return naming(named, () => {
    guard.checkRoot(tree, path);
    return tree.folder(dirname(path), (folder) => guard.check(folder));
  });
}

function naming<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw named(path, error);
  }
}

function named(path: string, error: unknown): Error {
  return new Error(`Cannot change ${path}: ${writeReason(error)}`, { cause: error });
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function quietly(run: () => void): void {
  try {
    run();
  } catch { /* A temporary file or a folder that is not empty may stay. */ }
}

export function isTemporary(name: string): boolean {
  return /^\.vis-[\da-f-]{36}\.tmp$/.test(name);
}

function temporaryOf(path: string): string {
  const folder = dirname(path);
  return `${folder === "." ? "" : `${folder}/`}.vis-${crypto.randomUUID()}.tmp`;
}
