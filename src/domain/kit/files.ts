import { Pace, REAL_CLOCK } from "./concurrency.ts";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import ownPath, { dirname, resolve, sep } from "node:path";

/** Readers always see either the old or the new text. The folder must exist. */
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

/** If the file at `path` is missing, a file of root gets the owner of its folder, so that a service can use files of
 * `sudo vis`. Returns false if the group stays different. */
export async function inheritOwner(file: FileHandle, path: string): Promise<boolean> {
  const before = await stat(path).catch(() => null);
  return before ? await giveTo(before, file) : await giveToFolder(file, dirname(path));
}

export async function ensureFile(path: string, { mode = 0o600 } = {}): Promise<void> {
  const file = await open(path, "ax", mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return null;
    throw error;
  });
  if (file) await giveToFolder(file, dirname(path)).finally(() => file.close());
}

/** A new folder of root gets the owner of its parent. */
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

/** The path may already lead to another file, so `giveTo` needs the descriptor. */
async function giveTo(owner: Pick<Stats, "uid" | "gid">, file: FileHandle): Promise<boolean> {
  const { uid, gid } = await file.stat();
  if (Deno.build.os === "windows" || (owner.uid === uid && owner.gid === gid)) return true;
  const given = file.chown(owner.uid, owner.gid).catch(() => file.chown(uid, owner.gid));
  return await given.then(() => true, () => false);
}

/** Windows can refuse to rename a file while another process, such as a virus scanner, has the file open. */
const HELD = ["EACCES", "EBUSY", "EPERM"];
const TRIES = 10, PAUSE_MS = 50;

interface Options {
  /** On Windows, `renameOver` calls `release`, which must close this process's handles of the replaced file. */
  readonly release?: () => void;
  readonly os?: string;
  readonly attempt?: (from: string, to: string) => Promise<void>;
  readonly sleep?: (ms: number) => Promise<void>;
}

export async function renameOver(
  from: string,
  to: string,
  { release, os = Deno.build.os, attempt = rename, sleep = REAL_CLOCK.sleep }: Options = {},
): Promise<void> {
  if (os !== "windows") return await attempt(from, to);
  release?.();
  for (let tries = 1;; tries++) {
    try {
      return await attempt(from, to);
    } catch (error) {
      const isHeld = error instanceof Error && "code" in error && HELD.includes(String(error.code));
      if (!isHeld || tries === TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** A placeholder is an empty folder or file. Vis creates it so that a command cannot create an entry which git or Vis
 * would obey. The sticky bit marks placeholders, because the system ignores this bit on empty folders and on files. */
export const PLACEHOLDER_MARK = 0o1000;
const PLACEHOLDER_FOLDER = 0o041755, PLACEHOLDER_FILE = 0o101644;

export function placeholderMode(kind: "folder" | "file"): number {
  return (kind === "folder" ? PLACEHOLDER_FOLDER : PLACEHOLDER_FILE) & 0o7777;
}

/** The caller must check that the entry is empty. */
export function hasPlaceholderMode(mode: number): boolean {
  return mode === PLACEHOLDER_FOLDER || mode === PLACEHOLDER_FILE;
}

const ODD = /\/(?:\.{0,2})(?:\/|$)/;

/** Both paths must be absolute. */
export function isWithin(path: string, folder: string, { relative, isAbsolute, sep } = ownPath): boolean {
  if (path === "") return false;
  // A text comparison is much faster than `relative`, and exact for paths without `//`, `.` and `..`.
  if (sep === "/" && !ODD.test(folder) && !ODD.test(path)) return path === folder || path.startsWith(`${folder}/`);
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Returns false for a path that Vis may not look at. */
export function isGone(path: string): boolean {
  try {
    Deno.statSync(path);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/** Keeps `..` except on Windows, because the parent of a link's target is not the parent of the link. */
export function joinUnresolved(folder: string, path: string): string {
  if (sep !== "/") return resolve(folder, path);
  const whole = path.startsWith("/") ? path : `${folder}/${path}`;
  return `/${whole.split("/").filter((name) => name !== "" && name !== ".").join("/")}`;
}

/** Both paths must be absolute. */
export function isBelow(path: string, folder: string): boolean {
  return isWithin(path, folder) && !isWithin(folder, path);
}

const MAX_BYTES = 1 << 20;

class NotPlainFile extends Error {
  override readonly name = "NotPlainFile";
}

interface ReadOptions {
  readonly links?: boolean;
  readonly most?: number;
  /** If true, the text keeps its byte order mark, and invalid UTF-8 is an error, so that writing the text gives the
   * same bytes. */
  readonly exact?: boolean;
}

/** A command can replace a file of the workspace with a pipe. Without `O_NONBLOCK`, opening the pipe would wait for a
 * writer. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const READ_BYTES = 256 << 10;

/** A link in a workspace may lead to a device, a pipe or an endless file, which could block the process or fill its
 * memory. Throws `NotPlainFile` for another kind of file, for more than `most` bytes, and if the file is replaced or
 * grows during the read. The calls are synchronous, because asynchronous calls of the runtime take much longer. */
export async function plainFile(
  path: string,
  { links = true, most = MAX_BYTES }: Pick<ReadOptions, "links" | "most"> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const info = links ? Deno.statSync(path) : Deno.lstatSync(path);
  if (!info.isFile) throw new NotPlainFile(`it is ${kindText(info)}, not a file`);
  if (info.size > most) throw new NotPlainFile(`it has ${info.size} bytes, and the limit is ${most} bytes`);
  if (info.size === 0) return new Uint8Array(); // Files of /proc have size 0, and some of them are endless.
  const file = openSync(path, READ), pace = new Pace();
  try {
    if (!isSame(info, fstatSync(file))) throw new NotPlainFile("another process replaced it while Vis read it");
    const bytes = new Uint8Array(info.size + 1);
    let used = 0;
    for (let count = 1; count > 0; used += count) {
      if (used === bytes.length) throw new NotPlainFile("it grew while Vis read it");
      if (pace.due) await pace.rest();
      count = readSync(file, bytes, used, Math.min(bytes.length - used, READ_BYTES), null);
    }
    return bytes.subarray(0, used);
  } finally {
    closeSync(file);
  }
}

/** Returns null for a link, another kind of file, and a missing or unreadable file. The caller closes the descriptor. */
export function openPlainFile(path: string): number | null {
  let descriptor: number | null = null;
  try {
    const info = Deno.lstatSync(path);
    if (!info.isFile) return null;
    descriptor = openSync(path, READ);
    if (isSame(info, fstatSync(descriptor))) return descriptor;
  } catch { /* Vis cannot read the file. */ }
  if (descriptor !== null) closeSync(descriptor);
  return null;
}

export function firstBytes(path: string, most: number): Uint8Array<ArrayBuffer> | null {
  const descriptor = openPlainFile(path);
  if (descriptor === null) return null;
  try {
    const bytes = new Uint8Array(most);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, most, 0));
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

function isSame({ dev, ino }: Deno.FileInfo, opened: Stats): boolean {
  return opened.isFile() && (ino === null || dev === opened.dev && ino === opened.ino);
}

export async function plainTextFile(path: string, options: ReadOptions = {}): Promise<string> {
  const { exact = false } = options, bytes = await plainFile(path, options);
  try {
    return new TextDecoder("utf-8", { fatal: exact, ignoreBOM: exact }).decode(bytes);
  } catch {
    throw new NotPlainFile("it is not UTF-8; save it as UTF-8");
  }
}

/** Returns null for another kind of file, and for a missing, unreadable or larger file. Without `links`, a link gives
 * null, because the link may lead out of a repository. */
export async function smallTextFile(
  path: string,
  { links = false, most = MAX_BYTES }: ReadOptions = {},
): Promise<string | null> {
  return await plainTextFile(path, { links, most }).catch(() => null);
}

function kindText({ isDirectory, isFifo, isSymlink, isSocket }: Deno.FileInfo): string {
  return isDirectory ? "a folder" : isFifo ? "a pipe" : isSymlink ? "a link" : isSocket ? "a socket" : "a device";
}

/** `open` and `getdents64` run on another thread, because the disk may be slow. */
const SYMBOLS = {
  open: { parameters: ["buffer", "i32"], result: "i32", nonblocking: true },
  getdents64: { parameters: ["i32", "buffer", "usize"], result: "i64", nonblocking: true },
  close: { parameters: ["i32"], result: "i32" },
} as const;
const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0o40000 : 0o200000, O_CLOEXEC = 0o2000000;
const PIECE_BYTES = 32_768;
const LENGTH_AT = 16, KIND_AT = 18, NAME_AT = 19;
const KINDS: Readonly<Record<number, Omit<Deno.DirEntry, "name">>> = {
  4: { isDirectory: true, isFile: false, isSymlink: false },
  8: { isDirectory: false, isFile: true, isSymlink: false },
  10: { isDirectory: false, isFile: false, isSymlink: true },
};
const OTHER = { isDirectory: false, isFile: false, isSymlink: false };

export interface FirstEntries {
  readonly entries: readonly Deno.DirEntry[];
  readonly hasMore: boolean;
}

/** On Linux, this function uses the C library, because `Deno.readDir` first reads the whole folder into memory. */
export async function firstEntries(
  path: string,
  { most, os = Deno.build.os }: { readonly most: number; readonly os?: string },
): Promise<FirstEntries> {
  const library = os === "linux" ? LIBRARY.opened : null;
  const folder = await library?.symbols.open(terminated(path), O_DIRECTORY | O_CLOEXEC) ?? -1;
  if (!library || folder < 0) return await firstOf(Deno.readDir(path), most); // `Deno.readDir` reports the failure.
  try {
    return await firstOf(entriesOf(library, { folder, path }), most);
  } catch {
    return await firstOf(Deno.readDir(path), most);
  } finally {
    library.symbols.close(folder);
  }
}

class Library {
  #opened: Deno.DynamicLibrary<typeof SYMBOLS> | null | undefined;

  get opened(): Deno.DynamicLibrary<typeof SYMBOLS> | null {
    if (this.#opened !== undefined) return this.#opened;
    try {
      this.#opened = Deno.dlopen("libc.so.6", SYMBOLS);
    } catch {
      this.#opened = null;
    }
    return this.#opened;
  }
}

const LIBRARY = new Library();

async function firstOf(all: AsyncIterable<Deno.DirEntry>, most: number): Promise<FirstEntries> {
  const entries: Deno.DirEntry[] = [];
  for await (const entry of all) {
    if (entries.length === most) return { entries, hasMore: true };
    entries.push(entry);
  }
  return { entries, hasMore: false };
}

async function* entriesOf(
  { symbols }: Deno.DynamicLibrary<typeof SYMBOLS>,
  { folder, path }: { readonly folder: number; readonly path: string },
): AsyncGenerator<Deno.DirEntry> {
  const bytes = new Uint8Array(PIECE_BYTES);
  const view = new DataView(bytes.buffer);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (;;) {
    const length = Number(await symbols.getdents64(folder, bytes, BigInt(PIECE_BYTES)));
    if (length < 0) throw new Error(`Cannot list ${path}: getdents64 failed`);
    if (length === 0) return;
    for (let at = 0; at < length; at += view.getUint16(at + LENGTH_AT, true)) {
      const name = decoder.decode(bytes.subarray(at + NAME_AT, bytes.indexOf(0, at + NAME_AT)));
      if (name === "." || name === "..") continue;
      yield { name, ...KINDS[view.getUint8(at + KIND_AT)] ?? await kindOf(`${path}/${name}`) };
    }
  }
}

async function kindOf(path: string): Promise<Omit<Deno.DirEntry, "name">> {
  return await Deno.lstat(path).catch(() => OTHER);
}

function terminated(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

export async function sharedFileNotes(path: string): Promise<readonly string[]> {
  const { mode } = await Deno.stat(path);
  const isOpen = Deno.build.os !== "windows" && ((mode ?? 0) & 0o077) !== 0;
  return isOpen ? [`other users have access to ${path}; run chmod 600 on it`] : [];
}
