import { dirname, join } from "node:path";
import type { Place } from "./confine.ts";

export interface Replacement {
  readonly place: Place;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What was there, to be put back if a later file of the same change fails; null for a new file. */
  readonly before: Uint8Array<ArrayBuffer> | null;
}

interface Staged {
  readonly replacement: Replacement;
  readonly temporary: string;
}

/** Writes all or none: every text goes to a temporary file beside its place, then all are renamed into place. Mode and,
 * where allowed, owner are kept. Throws Error naming the file; what was renamed before is put back. */
export async function replaceFiles(replacements: readonly Replacement[]): Promise<void> {
  const staged: Staged[] = [];
  const done: Staged[] = [];
  try {
    for (const replacement of replacements) staged.push(await stage(replacement));
    for (const one of staged) {
      await naming(one.replacement.place, () => Deno.rename(one.temporary, one.replacement.place.absolute));
      done.push(one);
    }
  } catch (error) {
    for (const { temporary } of staged) await Deno.remove(temporary).catch(() => {});
    for (const { replacement } of done) await putBack(replacement);
    throw error;
  }
}

async function stage(replacement: Replacement): Promise<Staged> {
  const { place } = replacement;
  const folder = dirname(place.absolute);
  return await naming(place, async () => {
    await Deno.mkdir(folder, { recursive: true });
    const temporary = join(folder, `.vis-${crypto.randomUUID()}.tmp`);
    try {
      await Deno.writeFile(temporary, replacement.bytes, { createNew: true });
      if (place.info) await keepOwner(temporary, place.info);
      return { replacement, temporary };
    } catch (error) {
      await Deno.remove(temporary).catch(() => {});
      throw error;
    }
  });
}

/** Owner before mode: changing the owner clears some bits of the mode. */
async function keepOwner(path: string, info: Deno.FileInfo): Promise<void> {
  const mine = await Deno.lstat(path);
  if (info.uid !== mine.uid || info.gid !== mine.gid) await Deno.chown(path, info.uid, info.gid).catch(() => {});
  if (info.mode !== null) await Deno.chmod(path, info.mode & 0o7777);
}

async function putBack({ place, before }: Replacement): Promise<void> {
  if (before === null) await Deno.remove(place.absolute).catch(() => {});
  else await replaceFiles([{ place, bytes: before, before: null }]).catch(() => {});
}

async function naming<Result>(place: Place, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`Cannot write ${place.path}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotADirectory) return "a part of its path is a file";
  if (error instanceof Deno.errors.AlreadyExists) return "a part of its path is a file";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  return error instanceof Error ? error.message.replace(/, \w+ '.*$/, "") : String(error);
}
