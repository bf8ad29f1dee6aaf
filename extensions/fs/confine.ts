import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** A place inside the workspace, decided once: `absolute` has no symbolic link in it. */
export interface Place {
  readonly absolute: string;
  /** Relative to the workspace, as the caller named it, with `/`; "." for the workspace itself. */
  readonly path: string;
  /** Null where nothing is there yet. */
  readonly info: Deno.FileInfo | null;
}

/** Where only their own tools write: repository internals (which can name commands) and our settings. */
const GUARDED = [".git", ".vis"];

/** The only module that turns a path from the model into one that is opened. Throws RangeError for a path outside,
 * compared by components after links are resolved, and TypeError for one that cannot be a path. */
export async function confine(root: string, path: string): Promise<Place> {
  if (path.includes("\0")) throw new TypeError(`Cannot use path ${JSON.stringify(path)}: it has a NUL character`);
  const wanted = resolve(root, path);
  const named = relative(root, wanted);
  if (!isInside(named)) throw outside(path, root);
  const { real, rest } = await deepest(wanted, path);
  const absolute = rest === "" ? real : join(real, rest);
  if (!isInside(relative(root, absolute))) throw outside(path, root);
  const info = rest === "" ? await Deno.lstat(absolute) : null;
  return { absolute, path: named.split(sep).join("/") || ".", info };
}

/** As `confine`, for a file that will be written. Throws also for guarded folders, by name and by what links lead to. */
export async function confineForWrite(root: string, path: string): Promise<Place> {
  const place = await confine(root, path);
  for (const parts of [place.path.split("/"), relative(root, place.absolute).split(sep)]) {
    const guarded = parts.find((part) => GUARDED.includes(part.toLowerCase().replace(/[. ]+$/, "")));
    if (guarded !== undefined) {
      throw new RangeError(`Cannot write ${place.path}: files below ${guarded}/ are protected`);
    }
  }
  if (place.path === ".") throw new RangeError("Cannot write .: it is the workspace itself");
  return place;
}

/** The real path of the deepest part that exists, and what follows it. */
async function deepest(wanted: string, path: string): Promise<{ readonly real: string; readonly rest: string }> {
  for (let at = wanted;; at = dirname(at)) {
    try {
      return { real: await Deno.realPath(at), rest: relative(at, wanted) };
    } catch (error) {
      if (error instanceof Deno.errors.FilesystemLoop) {
        throw new RangeError(`Cannot use ${path}: its links form a loop`);
      }
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
      if (await isLink(at)) throw new RangeError(`Cannot use ${path}: it is a link to something that is not there`);
      if (at === dirname(at)) throw error;
    }
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isSymlink;
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
