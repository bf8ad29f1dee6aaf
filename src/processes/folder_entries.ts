import { joinBytes } from "../domain/kit/bytes.ts";
import { Pace } from "../domain/kit/concurrency.ts";
import { type CommonCall, Libc } from "../sandbox/confine/libc.ts";
import { existsSync } from "node:fs";

const isArm = Deno.build.arch === "aarch64";
const AT_FDCWD = BigInt.asUintN(64, -100n), AT_REMOVEDIR = 0x200n;
const O_DIRECTORY = isArm ? 0o40000n : 0o200000n, O_NOFOLLOW = isArm ? 0o100000n : 0o400000n;
const OPEN_FOLDER = O_DIRECTORY | O_NOFOLLOW | 0o2000000n;
const LIST_BYTES = 32_768;
const LENGTH_AT = 16, KIND_AT = 18, NAME_AT = 19;
const KIND_FOLDER = 4;
const KIND_BITS = 0o170000, KIND_OF_FOLDER = 0o040000, KIND_OF_FILE = 0o100000;
const DOT = 46;
const STATX_BYTES = 256, USER_AT = 20, MODE_AT = 28, INODE_AT = 32, SIZE_AT = 40, CHANGED_AT = 96, MODIFIED_AT = 112;
const DEVICE_AT = 136;
const AT_SYMLINK_NOFOLLOW = 0x100n, STATX_BASIC = 0x7ffn;
/** The blocks of a file may be anywhere on the disk, so freeing a file of this size can take some milliseconds. */
const LARGE_BYTES = 32 << 20;
const TRIES = 100;
const OWNER_ALL = 0o700n;

type Bytes = Uint8Array<ArrayBuffer>;

interface Entry {
  readonly name: Bytes;
  readonly isFolder: boolean;
}

interface OtherSystem {
  readonly os?: typeof Deno.build.os;
}

export class TooMuchToRemove extends Error {}

/** A change within the same tick of the clock may leave the text unchanged; `keptStampOf` excludes this case. */
export function stampOf(path: string): string {
  if (!existsSync(path)) return ""; // An error takes longer than this check.
  try {
    const { size, mtime, ctime, mode, ino } = Deno.statSync(path);
    return [size, mtime?.getTime(), ctime?.getTime(), mode, ino].join();
  } catch {
    return "";
  }
}

/** Returns null if the stamp might not show a later change. */
export function keptStampOf(path: string, since = Date.now()): string | null {
  const stamp = stampOf(path);
  return isFresh(Number(stamp.split(",")[2] ?? 0), since) ? null : stamp;
}

/** The clock of change times does not advance for up to 10 ms, and on some file systems for up to two seconds. */
const TICK_MS = 20, SECONDS_MS = 2_000;

function isFresh(changedMs: number, since: number): boolean {
  return since - changedMs < (changedMs % 1_000 === 0 ? SECONDS_MS : TICK_MS);
}

export interface EntryFacts {
  readonly id: string;
  readonly inode: bigint;
  readonly isFile: boolean;
  readonly isFolder: boolean;
  readonly stamp: string;
  /** If true, a further change might leave the stamp unchanged. */
  readonly isFresh: boolean;
  readonly user: number;
  readonly mode: number;
}

/** The facts describe a link itself, not its target. */
export function entryFacts(
  path: string,
  { os = Deno.build.os, since = Date.now() }: OtherSystem & { readonly since?: number } = {},
): EntryFacts | null {
  if (os === "linux") return FOLDERS.facts(terminated(path), since);
  try {
    const { dev, ino, ctime, mtime, isFile, isDirectory, uid, mode } = Deno.lstatSync(path);
    const changed = (ctime ?? mtime)?.getTime() ?? 0;
    const stamp = `${ino} ${changed} ${mtime?.getTime()}`, id = `${dev} ${ino}`, inode = BigInt(ino ?? 0);
    const own = { user: uid ?? 0, mode: mode ?? 0 };
    return { id, inode, isFile, isFolder: isDirectory, stamp, isFresh: isFresh(changed, since), ...own };
  } catch {
    return null;
  }
}

interface Wanted {
  readonly most: number;
  readonly wanted: (first: number, last: number) => boolean;
  /** After this many names, the generator yields an entry without a name, at which the caller can rest. */
  readonly beat?: number;
}

/** Yields folders, and other entries if `wanted` accepts the first and the last byte of the name. On Linux, the bytes
 * above 127 of a name that is not UTF-8 become single surrogates, which functions of this file convert back. */
export function* folderEntries(
  path: string,
  { most, wanted, beat = Infinity, os = Deno.build.os }: OtherSystem & Wanted,
): Generator<{ readonly name: string; readonly isFolder: boolean }> {
  if (os !== "linux") return yield* elsewhereEntries(path, { most, wanted, beat });
  const at = FOLDERS.open(AT_FDCWD, terminated(path));
  if (at === null) return;
  try {
    for (const { name, isFolder } of FOLDERS.entries(at, { most, wanted, beat })) {
      yield { name: nameText(name.subarray(0, -1)), isFolder };
    }
  } finally {
    FOLDERS.close(at);
  }
}

function* elsewhereEntries(
  path: string,
  { most, wanted, beat = Infinity }: Wanted,
): Generator<{ readonly name: string; readonly isFolder: boolean }> {
  try {
    const encoder = new TextEncoder();
    let count = 0;
    for (const { name, isDirectory } of Deno.readDirSync(path)) {
      if (++count > most) return;
      if (count % beat === 0) yield { name: "", isFolder: false };
      const bytes = encoder.encode(name);
      if (isDirectory || wanted(bytes[0] ?? 0, bytes.at(-1) ?? 0)) yield { name, isFolder: isDirectory };
    }
  } catch { /* An unreadable folder yields no entries. */ }
}

/** The removal follows no link and ignores a missing path. No other program may change the path meanwhile. On Linux,
 * rejects with `TooMuchToRemove` above `most` names and, if `most` is set, for a very large file. */
export async function removeTree(path: string, { most = Infinity } = {}): Promise<void> {
  const info = lstatOf(path);
  if (info === null) return;
  if (Deno.build.os !== "linux") return await Deno.remove(path, { recursive: true });
  if (info.isDirectory) await emptyFolder(path, most);
  Deno.removeSync(path);
}

function lstatOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The runtime's own removal needs stack for each level, and the system takes no path of over 4096 bytes. This function
 * therefore moves a folder that is not empty to the top before it empties the folder. */
async function emptyFolder(path: string, most: number): Promise<void> {
  const removal = new Removal(path, most);
  for (let left = true; left;) {
    const top = FOLDERS.open(AT_FDCWD, terminated(path)) ?? await unlocked(path);
    try {
      left = false;
      const before = removal.changes;
      for (const entry of FOLDERS.entries(top)) {
        left = true;
        if (!await removal.remove(top, entry)) await removal.empty(top, entry.name);
      }
      if (left && removal.changes === before) {
        throw new Error(`Cannot remove ${path}: it contains an entry that the system does not let Vis remove`);
      }
    } finally {
      FOLDERS.close(top);
    }
  }
}

async function unlocked(path: string): Promise<number> {
  await Deno.chmod(path, 0o700);
  const at = FOLDERS.open(AT_FDCWD, terminated(path));
  if (at !== null) return at;
  Deno.readDirSync(path); // The error of this call names the cause.
  throw new Error(`Cannot remove ${path}: the system does not open the folder`);
}

class Removal {
  changes = 0;
  #moved = 0;
  readonly #pace = new Pace();
  readonly #path: string;
  readonly #most: number;

  constructor(path: string, most: number) {
    this.#path = path;
    this.#most = most;
  }

  async remove(folder: number, { name, isFolder }: Entry): Promise<boolean> {
    if (this.#pace.due) await this.#pace.rest();
    if (this.changes >= this.#most) {
      throw new TooMuchToRemove(`Cannot remove ${this.#path}: it has more than ${this.#most} names, the limit`);
    }
    if (!isFolder && this.#most < Infinity && FOLDERS.size(folder, name) > LARGE_BYTES) {
      throw new TooMuchToRemove(
        `Cannot remove ${this.#path}: it contains a file of more than ${LARGE_BYTES} bytes, the limit`,
      );
    }
    const isGone = !isFolder && FOLDERS.remove(folder, name, 0n) || FOLDERS.remove(folder, name, AT_REMOVEDIR);
    if (isGone) this.changes++;
    return isGone;
  }

  async empty(top: number, name: Bytes): Promise<void> {
    FOLDERS.unlock(top, name);
    const at = FOLDERS.open(top, name);
    if (at === null) return;
    try {
      for (const entry of FOLDERS.entries(at)) {
        if (await this.remove(at, entry)) continue;
        FOLDERS.unlock(at, entry.name);
        this.#moveUp(at, { name: entry.name, top });
      }
    } finally {
      FOLDERS.close(at);
    }
    await this.remove(top, { name, isFolder: true });
  }

  #moveUp(folder: number, { name, top }: { readonly name: Bytes; readonly top: number }): void {
    for (let tries = 0; tries < TRIES; tries++) {
      if (!FOLDERS.move(folder, name, { to: top, as: terminated(`.moved-${this.#moved++}`) })) continue;
      this.changes++;
      return;
    }
  }
}

class Folders {
  #opened: Libc | null = null;
  #spare: Bytes | null = null;
  #found: { readonly address: bigint; readonly view: DataView } | null = null;

  get #libc(): Libc {
    return this.#opened ??= new Libc();
  }

  open(folder: number | bigint, name: Bytes): number | null {
    const at = this.#call("openat", folder, [this.#libc.address(name), OPEN_FOLDER]);
    return at < 0 ? null : at;
  }

  /** A name is valid until the next name. The generator may yield entries that another program has removed. */
  *entries(
    folder: number,
    { most, wanted, beat = Infinity }: Wanted = { most: Infinity, wanted: () => true },
  ): Generator<Entry> {
    const bytes = this.#spare ?? new Uint8Array(LIST_BYTES);
    this.#spare = null;
    const next = (): number => this.#call("getdents64", folder, [this.#libc.address(bytes), BigInt(LIST_BYTES)]);
    let count = 0;
    for (let length = next(); length > 0; length = next()) {
      for (let at = 0, size = 0; at < length; at += size) {
        size = (bytes[at + LENGTH_AT] ?? 0) | (bytes[at + LENGTH_AT + 1] ?? 0) << 8;
        const from = at + NAME_AT;
        // The bytes that fill an entry up to a multiple of 8 are undefined.
        let end = Math.max(from, at + size - 8);
        while (end < length && bytes[end] !== 0) end++;
        const first = bytes[from] ?? 0, isFolder = bytes[at + KIND_AT] === KIND_FOLDER;
        if (first === DOT && (end === from + 1 || end === from + 2 && bytes[from + 1] === DOT)) continue;
        if (++count > most) return;
        if (count % beat === 0) yield { name: new Uint8Array(0), isFolder: false };
        if (isFolder || wanted(first, bytes[end - 1] ?? 0)) yield { name: bytes.subarray(from, end + 1), isFolder };
      }
    }
    this.#spare = bytes;
  }

  facts(path: Bytes, since: number): EntryFacts | null {
    const stat = this.#stat(AT_FDCWD, path);
    if (stat === null) return null;
    const word = (at: number): number => stat.getUint32(at, true);
    const time = (at: number): string => `${word(at)}.${word(at + 4)}.${word(at + 8)}`;
    const inode = stat.getBigUint64(INODE_AT, true), mode = stat.getUint16(MODE_AT, true), kind = mode & KIND_BITS;
    const changed = Number(stat.getBigInt64(CHANGED_AT, true)) * 1_000 + word(CHANGED_AT + 8) / 1e6;
    return {
      id: `${stat.getBigUint64(DEVICE_AT, true)} ${inode}`,
      inode,
      isFile: kind === KIND_OF_FILE,
      isFolder: kind === KIND_OF_FOLDER,
      stamp: `${inode} ${time(CHANGED_AT)} ${time(MODIFIED_AT)}`,
      isFresh: isFresh(changed, since),
      user: word(USER_AT),
      mode,
    };
  }

  size(folder: number, name: Bytes): number {
    return Number(this.#stat(folder, name)?.getBigUint64(SIZE_AT, true) ?? 0);
  }

  /** The view is valid until the next call. */
  #stat(folder: number | bigint, name: Bytes): DataView | null {
    const { address, view } = this.#found ??= this.#place();
    const rest = [this.#libc.address(name), AT_SYMLINK_NOFOLLOW, STATX_BASIC, address] as const;
    return this.#call("statx", folder, rest) === 0 ? view : null;
  }

  #place(): { readonly address: bigint; readonly view: DataView } {
    const into = new Uint8Array(STATX_BYTES);
    return { address: this.#libc.address(into), view: new DataView(into.buffer) };
  }

  remove(folder: number, name: Bytes, flags: bigint): boolean {
    return this.#call("unlinkat", folder, [this.#libc.address(name), flags]) === 0;
  }

  unlock(folder: number, name: Bytes): void {
    this.#call("fchmodat", folder, [this.#libc.address(name), OWNER_ALL]);
  }

  move(folder: number, name: Bytes, { to, as }: { readonly to: number; readonly as: Bytes }): boolean {
    const args = [this.#libc.address(name), BigInt(to), this.#libc.address(as)] as const;
    return this.#call("renameat2", folder, args) === 0;
  }

  close(folder: number): void {
    this.#libc.closeDescriptor(folder);
  }

  #call(name: CommonCall, folder: number | bigint, rest: readonly [bigint?, bigint?, bigint?, bigint?]): number {
    return this.#libc.call(name, [BigInt.asUintN(64, BigInt(folder)), ...rest]);
  }
}

const FOLDERS = new Folders();

const DECODER = new TextDecoder(), ENCODER = new TextEncoder();

function nameText(bytes: Bytes): string {
  const text = DECODER.decode(bytes);
  if (!text.includes("\ufffd")) return text;
  const isText = ENCODER.encode(text).every((byte, at) => byte === bytes[at]);
  return isText ? text : String.fromCharCode(...Array.from(bytes, (byte) => byte < 0x80 ? byte : 0xdc00 + byte));
}

function terminated(text: string): Bytes {
  const whole = `${text}\0`;
  if (whole.isWellFormed()) return ENCODER.encode(whole);
  const parts = whole.split(/([\udc80-\udcff])/);
  return joinBytes(parts.map((part) => (
    /^[\udc80-\udcff]$/.test(part) ? Uint8Array.of(part.charCodeAt(0) - 0xdc00) : ENCODER.encode(part)
  )));
}
