import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Cancelled, fileFault, UsageError } from "../../domain/errors.ts";
import { isBelow } from "../../domain/kit/files.ts";
import { PathMap, type ReplayPlace, type ReplayRequest } from "../../domain/records/recording.ts";
import type { ProcessOwner } from "../../persistence/store.ts";
import { removeTree } from "../../processes/folder_entries.ts";
import { realFolder } from "../settings/settings.ts";
import { isAlive, thisProcess } from "./process_owner.ts";

interface CopyLimits {
  readonly bytes: number;
  readonly entries: number;
}

export interface ReplayPlaceParts {
  readonly home: string | null;
  readonly temporary?: string;
  readonly limits?: CopyLimits;
}

const LIMITS: CopyLimits = { bytes: 2 ** 30, entries: 200_000 };
const FREE_BYTES = 64 * 2 ** 20;
const UNUSED = ["extensions", "checkpoints", join("cache", "extensions")];

export async function replayPlace(request: ReplayRequest, parts: ReplayPlaceParts): Promise<ReplayPlace> {
  const { cwd, recorded, inPlace, signal } = request;
  const workspace = await realFolder(cwd ?? Deno.cwd());
  if (inPlace) {
    const paths = new PathMap([[recorded, workspace]]);
    return { workspace, home: parts.home, paths, copied: null, close: () => Promise.resolve() };
  }
  const { temporary = tmpdir() } = parts;
  // With the length of the recorded path, texts that contain the path keep their sizes.
  const root = await makeCopyFolder(temporary, { length: dirname(recorded).length }).catch((error: unknown) => {
    throw refusal(workspace, { why: `Vis cannot write in ${temporary}, as ${fileFault(error)}`, advice: MOVE });
  });
  try {
    const made = await fill(root, { ...parts, workspace, recorded, signal });
    return { ...made, close: () => removeCopy(root) };
  } catch (error) {
    await removeCopy(root);
    if (signal.aborted) throw new Cancelled("Cancelled");
    throw error instanceof UsageError ? error : refusal(workspace, { why: fileFault(error), advice: MOVE });
  }
}

async function fill(
  root: string,
  { workspace, recorded, home, limits = LIMITS, signal }: ReplayPlaceParts & {
    readonly workspace: string;
    readonly recorded: string;
    readonly signal: AbortSignal;
  },
): Promise<Omit<ReplayPlace, "close">> {
  const copy = join(root, basename(recorded) || "workspace"), ownCopy = join(root, ".vis of the replay");
  const size = { bytes: 0, files: 0, entries: 0 };
  const take = ({ info }: TreeEntry): boolean => {
    signal.throwIfAborted();
    size.entries++;
    if (info.isFile) size.files++;
    if (info.isFile) size.bytes += info.size;
    const limit = size.bytes > limits.bytes
      ? `${limits.bytes >> 20} MiB`
      : size.entries > limits.entries
      ? `${limits.entries} files and folders`
      : null;
    if (limit === null) return true;
    const why = `the workspace and the data of extensions have more than ${limit}, the limit`;
    throw refusal(workspace, { why, advice: "use --cwd with a smaller copy" });
  };
  const { entries, leftOut } = await listTree(
    workspace,
    (entry) => join(workspace, entry.path) !== root && take(entry),
  );
  const realHome = home && await Deno.realPath(home).catch(() => null);
  const own = realHome ? await listTree(realHome, (entry) => isOfExtensions(entry) && take(entry)) : null;
  await checkRoom(dirname(root), { workspace, bytes: size.bytes });
  const unread = await copyTree(entries, { from: workspace, to: copy, signal });
  if (own && realHome) await copyTree(own.entries, { from: realHome, to: ownCopy, signal });
  const paths = new PathMap([[recorded, copy], ...(home === null ? [] : [[home, ownCopy] as const])]);
  const copied = { from: workspace, files: size.files, bytes: size.bytes, leftOut: leftOut + unread };
  return { workspace: copy, home: home && ownCopy, paths, copied };
}

/** Files at the top level of Vis's own folder belong to Vis, and some contain keys. */
function isOfExtensions({ path, info }: TreeEntry): boolean {
  return (path.includes(sep) || info.isDirectory) && !UNUSED.includes(path);
}

async function checkRoom(
  parent: string,
  { workspace, bytes }: { readonly workspace: string; readonly bytes: number },
): Promise<void> {
  const { bavail, bsize } = await statfs(parent);
  if (bavail * bsize >= bytes + FREE_BYTES) return;
  const [free, needed] = [bavail * bsize, bytes + FREE_BYTES].map((size) => Math.ceil(size / 2 ** 20));
  throw refusal(workspace, { why: `${parent} has ${free} MiB free, and the copy needs ${needed} MiB`, advice: MOVE });
}

const MOVE = `set ${Deno.build.os === "windows" ? "TEMP" : "TMPDIR"} to another folder`;

function refusal(
  workspace: string,
  { why, advice }: { readonly why: string; readonly advice: string },
): UsageError {
  return new UsageError(
    `Cannot copy ${workspace} for the replay: ${why}; ${advice}, or use --in-place to let blocks change the workspace itself`,
  );
}

const PREFIX = "vis-replay-", OWNER = "owner.json";

const RANDOM = 10, LONGEST_NAME = 200;

const DAY_MS = 86_400_000;

async function makeCopyFolder(folder: string, { length }: { readonly length: number }): Promise<string> {
  const parent = await Deno.realPath(folder);
  await removeAbandoned(parent);
  const wanted = length - join(parent, PREFIX).length;
  const random = crypto.getRandomValues(new Uint8Array(LONGEST_NAME));
  const digits = Array.from(random, (byte) => (byte & 15).toString(16)).join("");
  const path = join(parent, PREFIX + digits.slice(0, wanted >= RANDOM && wanted <= LONGEST_NAME ? wanted : RANDOM));
  await Deno.mkdir(path, { mode: 0o700 });
  try {
    await Deno.writeTextFile(join(path, OWNER), JSON.stringify(thisProcess()));
  } catch (error) {
    await removeCopy(path);
    throw error;
  }
  return path;
}

async function removeAbandoned(parent: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(parent)) {
    if (!isDirectory || !name.startsWith(PREFIX)) continue;
    const path = join(parent, name);
    // A copy that Vis cannot inspect or remove probably belongs to another user.
    if (await isAbandoned(path).catch(() => false)) await removeCopy(path).catch(() => {});
  }
}

/** A copy whose owner Vis cannot check, for example on another machine, counts as abandoned after a day. */
async function isAbandoned(path: string): Promise<boolean> {
  if ((await Deno.lstat(path)).uid !== Deno.uid()) return false;
  const file = join(path, OWNER);
  const owner: ProcessOwner = JSON.parse(await Deno.readTextFile(file));
  const made = (await Deno.stat(file)).mtime?.getTime() ?? Infinity;
  return !(isAlive(owner) ?? Date.now() - made < DAY_MS);
}

interface TreeEntry {
  readonly path: string;
  readonly info: Deno.FileInfo;
}

async function listTree(
  folder: string,
  wanted: (entry: TreeEntry) => boolean,
): Promise<{ readonly entries: readonly TreeEntry[]; readonly leftOut: number }> {
  const entries: TreeEntry[] = [];
  let leftOut = 0;
  const waiting = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const entry = { path, info: await Deno.lstat(join(folder, path)) };
      const { isDirectory, isFile, isSymlink } = entry.info;
      if (!wanted(entry)) continue;
      if (isDirectory) {
        for await (const { name } of Deno.readDir(join(folder, path))) waiting.push(join(path, name));
      }
      if (isDirectory || isFile || isSymlink) entries.push(entry);
      else leftOut++;
    } catch (error) {
      if (isUnreadable(error)) leftOut++;
      else if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return { entries, leftOut };
}

const AT_ONCE = 16;

/** An absolute link into the original becomes a link into the copy. */
async function copyTree(
  entries: readonly TreeEntry[],
  { from, to, signal }: { readonly from: string; readonly to: string; readonly signal: AbortSignal },
): Promise<number> {
  let leftOut = 0;
  const folders = entries.filter(({ info }) => info.isDirectory);
  // Some modes forbid writing, so a folder gets its mode after its files.
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
  // The caller removes the folder after an error, so the function waits for the end of all copies.
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

async function removeCopy(path: string): Promise<void> {
  try {
    await removeTree(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (!isUnreadable(error)) throw error;
    await unlock(path);
    await removeTree(path);
  }
}

async function unlock(folder: string): Promise<void> {
  await Deno.chmod(folder, 0o700);
  for await (const { name, isDirectory } of Deno.readDir(folder)) if (isDirectory) await unlock(join(folder, name));
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable;
}
