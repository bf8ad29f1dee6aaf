import type { Stats } from "node:fs";
import { type FileHandle, mkdir, open, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { renameOver } from "./rename_over.ts";

/** Replaces a file as a whole: readers see the old or the new text, and after an error the old one. Without `mode` only
 * its owner can read it. The folder must exist. */
export async function replaceFile(path: string, text: string, { mode = 0o600 } = {}): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`;
  try {
    const file = await open(fresh, "wx", mode);
    try {
      await file.writeFile(text);
      await inheritOwner(file, path);
      await file.sync();
    } finally {
      await file.close();
    }
    await renameOver(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    throw error;
  }
}

/** Gives a new file the owner and group of the file at `path`, which it is about to replace or is a copy of. Without
 * such a file, one that root creates gets the owner of the folder: a service must be able to use what `sudo vis` creates
 * in its home. Returns whether the file has that group; the system lets only root change the owner. */
export async function inheritOwner(file: FileHandle, path: string): Promise<boolean> {
  const before = await stat(path).catch(() => null);
  return before ? await giveTo(before, file) : await giveToFolder(file, dirname(path));
}

/** Creates an empty file if there is none, with an owner as in `inheritOwner`. */
export async function ensureFile(path: string, { mode = 0o600 } = {}): Promise<void> {
  const file = await open(path, "ax", mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return null;
    throw error;
  });
  if (file) await giveToFolder(file, dirname(path)).finally(() => file.close());
}

/** Creates a folder, and the folders above it, where they are missing, with owners as in `inheritOwner`. Only their
 * owner can enter them. */
export async function ensureFolder(path: string, { mode = 0o700 } = {}): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode });
  if (first === undefined || Deno.build.os === "windows") return;
  const made = [resolve(path)];
  for (let at = resolve(path); at.length > first.length; at = dirname(at)) made.unshift(dirname(at));
  for (const folder of made) {
    const opened = await open(folder, "r");
    await giveToFolder(opened, dirname(folder)).finally(() => opened.close());
  }
}

async function giveToFolder(file: FileHandle, folder: string): Promise<boolean> {
  if (Deno.build.os === "windows" || (await file.stat()).uid !== 0) return true;
  return await giveTo(await stat(folder), file);
}

/** By the descriptor: the name of the file may lead to another one by now. */
async function giveTo(owner: Pick<Stats, "uid" | "gid">, file: FileHandle): Promise<boolean> {
  const { uid, gid } = await file.stat();
  if (Deno.build.os === "windows" || (owner.uid === uid && owner.gid === gid)) return true;
  const given = file.chown(owner.uid, owner.gid).catch(() => file.chown(uid, owner.gid));
  return await given.then(() => true, () => false);
}
