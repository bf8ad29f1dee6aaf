import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isGuarded } from "./guard.ts";
import { nameBytes, nameText } from "../tree/name_text.ts";
import type { Facts, Tree } from "../tree/tree.ts";

/** Every folder of a path is opened and checked, and again for each entry of a change. */
export const MAX_DEPTH = 200;

/** A place inside the workspace, resolved once. */
export interface WorkspacePath {
  /** Relative to the workspace, with `/` and without links; "." for the workspace itself. */
  readonly real: string;
  /** As the caller named it, relative to the workspace with `/`. */
  readonly path: string;
  /** Null if nothing is there yet. */
  readonly info: Facts | null;
}

export interface Workspace {
  /** Real path. */
  readonly root: string;
  readonly tree: Tree;
}

/** The only module that resolves a path from the model. Throws RangeError for a path outside, compared by components
 * after links are resolved, and TypeError for an invalid one. */
export function confine(workspace: Workspace, path: string): WorkspacePath {
  const named = namedIn(workspace, path);
  const { real, rest } = deepest(resolve(workspace.root, named), path);
  return placeAt(workspace, { named, path, absolute: rest === "" ? real : join(real, rest) });
}

/** Like `confine`, but a link at the end is not followed. */
function confineEntry(workspace: Workspace, path: string): WorkspacePath {
  const named = namedIn(workspace, path);
  if (named === "") throw new RangeError(`Cannot change ${path}: it is the workspace itself`);
  const { real, rest } = deepest(dirname(resolve(workspace.root, named)), path);
  return placeAt(workspace, { named, path, absolute: join(real, rest, named.slice(named.lastIndexOf(sep) + 1)) });
}

/** Like `confine`, for a file that will be written. Also throws for guarded folders, by name and by the target of
 * links. */
export function confineForWrite(workspace: Workspace, path: string): WorkspacePath {
  return refuseGuarded(confine(workspace, path));
}

/** Like `confineEntry`, for an entry that will be created, moved or removed. */
export function confineEntryForWrite(workspace: Workspace, path: string): WorkspacePath {
  return refuseGuarded(confineEntry(workspace, path));
}

/** The error for a path that changed between two checks. */
export function movedMeanwhile(path: string): RangeError {
  return new RangeError(`Cannot use ${path}: a part of it is a link that was not there before`);
}

const OF_EXTENSIONS =
  "; write the extension to a folder outside, and ask the user to move it to .vis/extensions/ and run vis extensions trust";

function refuseGuarded(place: WorkspacePath): WorkspacePath {
  for (const parts of [place.path.split("/"), place.real.split("/")]) {
    const at = parts.findIndex(isGuarded);
    if (at >= 0) {
      const advice = parts[at] === ".vis" && parts[at + 1] === "extensions" ? OF_EXTENSIONS : "";
      throw new RangeError(`Cannot write ${place.path}: files below ${parts[at]}/ are protected${advice}`);
    }
  }
  if (place.real === ".") throw new RangeError("Cannot write .: it is the workspace itself");
  return place;
}

function namedIn({ root }: Workspace, path: string): string {
  if (path.includes("\0")) throw new TypeError(`Cannot use path ${JSON.stringify(path)}: it has a NUL character`);
  // One text for each name: another one for its bytes could hide a guarded name.
  const named = relative(root, resolve(root, nameText(nameBytes(path))));
  if (!isInside(named)) throw outside(path, root);
  if (named.split(sep).length > MAX_DEPTH) {
    throw new RangeError(`Cannot use a path of over ${MAX_DEPTH} folders: work in a folder with a shorter path`);
  }
  return named;
}

function placeAt(
  { root, tree }: Workspace,
  { named, path, absolute }: { readonly named: string; readonly path: string; readonly absolute: string },
): WorkspacePath {
  const inside = relative(root, absolute);
  if (!isInside(inside)) throw outside(path, root);
  const real = inside.split(sep).join("/") || ".";
  try {
    return { real, path: named.split(sep).join("/") || ".", info: tree.look(real) };
  } catch (error) {
    throw error instanceof Deno.errors.FilesystemLoop ? movedMeanwhile(path) : error;
  }
}

/** The real path of the deepest existing part, and the rest. */
function deepest(wanted: string, path: string): { readonly real: string; readonly rest: string } {
  for (let at = wanted;; at = dirname(at)) {
    try {
      return { real: Deno.realPathSync(at), rest: relative(at, wanted) };
    } catch (error) {
      if (error instanceof Deno.errors.FilesystemLoop) {
        throw new RangeError(`Cannot use ${path}: its links form a loop`);
      }
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
      if (isLink(at)) throw new RangeError(`Cannot use ${path}: it is a link to something that is not there`);
      if (at === dirname(at)) throw error;
    }
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

function isInside(relation: string): boolean {
  return relation !== ".." && !relation.startsWith(`..${sep}`) && !isAbsolute(relation);
}

function outside(path: string, root: string): RangeError {
  return new RangeError(`Cannot use ${path}: it is outside the workspace ${root}`);
}
