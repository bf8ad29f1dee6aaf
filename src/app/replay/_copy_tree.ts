import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isBelow } from "../extensions/is_below.ts";
import { isUnreadable } from "./_remove_tree.ts";
import type { TreeEntry } from "./_list_tree.ts";

const AT_ONCE = 16;

/** Copies listed entries from one folder to another: contents, modes and times. No file is shared with the original. A
 * link into the original becomes a link into the copy; other links keep their target. Resolves with the number of
 * unreadable files. */
export async function copyTree(
  entries: readonly TreeEntry[],
  { from, to, signal }: { readonly from: string; readonly to: string; readonly signal: AbortSignal },
): Promise<number> {
  let leftOut = 0;
  const folders = entries.filter(({ info }) => info.isDirectory);
  // Writable at first: some folders' own modes forbid writing.
  for (const { path } of folders) await Deno.mkdir(join(to, path), { recursive: true, mode: 0o700 });
  const queue = entries.filter(({ info }) => !info.isDirectory);
  const worker = async (): Promise<void> => {
    for (let entry = queue.pop(); entry; entry = queue.pop()) {
      signal.throwIfAborted();
      try {
        await copyEntry(entry, { from, to });
      } catch (error) {
        if (isUnreadable(error)) leftOut++;
        else if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  };
  // All of them must end before the copy is removed.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  for (const { path, info } of folders.toReversed()) {
    await setTimes(join(to, path), info);
    if (info.mode !== null) await Deno.chmod(join(to, path), info.mode & 0o777);
  }
  return leftOut;
}

async function copyEntry(
  { path, info }: TreeEntry,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const target = join(to, path);
  if (info.isSymlink) return await Deno.symlink(await leadsTo(path, { from, to }), target);
  await Deno.copyFile(join(from, path), target);
  await setTimes(target, info);
}

async function leadsTo(path: string, { from, to }: { readonly from: string; readonly to: string }): Promise<string> {
  const link = join(from, path);
  const told = await Deno.readLink(link);
  const target = resolve(dirname(link), told);
  if (target !== from && !isBelow(target, from)) return target;
  return isAbsolute(told) ? join(to, relative(from, target)) : told;
}

async function setTimes(path: string, { atime, mtime }: Deno.FileInfo): Promise<void> {
  if (mtime) await Deno.utime(path, atime ?? mtime, mtime);
}
