import { errnoText } from "@vis/extension";
import { nameBytes, nameText } from "./tree.ts";

const SYMBOLS = {
  openat2: { name: "syscall", parameters: ["i32", "i32", "buffer", "buffer", "i32"], result: "i32" },
  statx: { name: "syscall", parameters: ["i32", "i32", "buffer", "i32", "u32", "buffer"], result: "i32" },
  buffered: { name: "syscall", parameters: ["i32", "i32", "buffer", "i32"], result: "i32" },
  seek: { name: "syscall", parameters: ["i32", "i32", "i64", "i32"], result: "i64" },
  mode: { name: "syscall", parameters: ["i32", "i32", "buffer", "i32"], result: "i32" },
  readlinkat: { name: "syscall", parameters: ["i32", "i32", "buffer", "buffer", "i32"], result: "i32" },
  symlinkat: { name: "syscall", parameters: ["i32", "buffer", "i32", "buffer"], result: "i32" },
  renameat2: { name: "syscall", parameters: ["i32", "i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
  fsetxattr: { name: "syscall", parameters: ["i32", "i32", "buffer", "buffer", "i32", "i32"], result: "i32" },
  allocate: { name: "syscall", parameters: ["i32", "i32", "i32", "i64", "i64"], result: "i64" },
  numbers: { name: "syscall", parameters: ["i32", "i32", "u32", "u32"], result: "i32" },
  fdatasync: { parameters: ["i32"], result: "i32", nonblocking: true },
  errno: { name: "__errno_location", parameters: [], result: "pointer" },
} as const;

const CALLS = {
  x86_64: {
    read: 0,
    write: 1,
    close: 3,
    lseek: 8,
    flock: 73,
    ftruncate: 77,
    flistxattr: 196,
    fgetxattr: 193,
    fsetxattr: 190,
    faccessat: 269,
    inotify_init1: 294,
    inotify_add_watch: 254,
    fallocate: 285,
    fchmod: 91,
    fchown: 93,
    getdents64: 217,
    mkdirat: 258,
    unlinkat: 263,
    symlinkat: 266,
    readlinkat: 267,
    renameat2: 316,
    statx: 332,
    openat2: 437,
  },
  aarch64: {
    read: 63,
    write: 64,
    close: 57,
    lseek: 62,
    flock: 32,
    ftruncate: 46,
    flistxattr: 13,
    fgetxattr: 10,
    fsetxattr: 7,
    faccessat: 48,
    inotify_init1: 26,
    inotify_add_watch: 27,
    fallocate: 47,
    fchmod: 52,
    fchown: 55,
    getdents64: 61,
    mkdirat: 34,
    unlinkat: 35,
    symlinkat: 36,
    readlinkat: 78,
    renameat2: 276,
    statx: 291,
    openat2: 437,
  },
} as const;

type Call = keyof typeof CALLS["x86_64"];
type Bytes = Uint8Array<ArrayBuffer>;

const AT_FDCWD = -100;
const AT_REMOVEDIR = 0x200;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_EMPTY_PATH = 0x1000;
const STATX_BASIC = 0x7ff, STATX_BASIC_AND_BIRTH = 0xfff;
const STATX_BYTES = 256;
const UNLINKED = 0x02n | 0x04n, BENEATH = UNLINKED | 0x08n;
const HOW_BYTES = 24;
/** The kernel accepts paths below 4,096 bytes, and a UTF-16 unit can take three bytes. */
const ONE_CALL_CHARS = 1300;
const EINTR = 4, EAGAIN = 11, EXDEV = 18, ERANGE = 34;
const W_OK_AND_X_OK = 0b11, KEEP_SIZE = 1;
const ATTRIBUTE_BYTES = 4096;
const MAX_VALUE = 64 * 1024;
const LOCK_EX_NB = 0b110;
const RETRIES = 64;

const ERRORS: Readonly<Record<number, new (message: string) => Error>> = {
  1: Deno.errors.PermissionDenied,
  2: Deno.errors.NotFound,
  13: Deno.errors.PermissionDenied,
  17: Deno.errors.AlreadyExists,
  18: Deno.errors.FilesystemLoop, // The number 18 is EXDEV: for openat2, the path led out of the folder.
  20: Deno.errors.NotADirectory,
  21: Deno.errors.IsADirectory,
  40: Deno.errors.FilesystemLoop,
};

const REASONS: Readonly<Record<number, string>> = {
  28: "the disk is full",
  30: "the file system is read-only",
  36: "its name is too long",
  39: "it is not empty",
  122: "the quota of the disk is used up",
};

const terminated = (text: string): Bytes => nameBytes(`${text}\0`);

export class Kernel {
  static #shared: Kernel | null | undefined;

  readonly #symbols: Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];
  readonly #calls = CALLS[Deno.build.arch];
  readonly #empty = terminated("");
  readonly #hows = new Map<number, Bytes>();
  readonly #stat = new DataView(new ArrayBuffer(STATX_BYTES));
  readonly #statBytes = new Uint8Array(this.#stat.buffer);

  constructor() {
    this.#symbols = Deno.dlopen("libc.so.6", SYMBOLS).symbols;
  }

  static shared(): Kernel | null {
    if (Kernel.#shared === undefined) Kernel.#shared = Kernel.#load();
    return Kernel.#shared;
  }

  static #load(): Kernel | null {
    if (Deno.build.os !== "linux") return null;
    try {
      const kernel = new Kernel();
      kernel.close(kernel.open(kernel.openRoot("/"), ".", { flags: OPEN.path | OPEN.folder }));
      return kernel;
    } catch {
      return null;
    }
  }

  /** The path must be real. Throws FilesystemLoop if a part of the path has become a link. */
  openRoot(path: string): number {
    return this.#open(AT_FDCWD, path, { flags: OPEN.path | OPEN.folder, resolve: UNLINKED });
  }

  openBelow(root: string, path: string, { flags }: { readonly flags: number }): number {
    const whole = path === "." ? root : `${root}/${path}`;
    if (whole.length < ONE_CALL_CHARS && !path.includes("..")) {
      return this.#open(AT_FDCWD, whole, { flags, resolve: UNLINKED });
    }
    const folder = this.openRoot(root);
    try {
      return this.open(folder, path, { flags });
    } finally {
      this.close(folder);
    }
  }

  open(folder: number, path: string, { flags, mode = 0 }: { readonly flags: number; readonly mode?: number }): number {
    return this.#open(folder, path, { flags, mode, resolve: BENEATH });
  }

  #open(
    folder: number,
    path: string,
    { flags, mode = 0, resolve }: { readonly flags: number; readonly mode?: number; readonly resolve: bigint },
  ): number {
    const bytes = this.#how({ flags, mode, resolve });
    const name = terminated(path);
    for (let tries = 0;; tries++) {
      const found = this.#symbols.openat2(this.#calls.openat2, folder, name, bytes, HOW_BYTES);
      if (found >= 0) return found;
      const code = this.#errno();
      // After a concurrent rename, the kernel cannot tell whether `..` stayed below the folder.
      if ((code !== EAGAIN && code !== EINTR) || tries === RETRIES) throw this.#error("openat2", { code, path });
    }
  }

  #how({ flags, mode, resolve }: { readonly flags: number; readonly mode: number; readonly resolve: bigint }): Bytes {
    const key = mode === 0 ? Number(resolve) * 2 ** 32 + flags : -1;
    const known = this.#hows.get(key);
    if (known) return known;
    const how = new BigUint64Array([BigInt(flags | OPEN.closeOnExec), BigInt(mode), resolve]);
    const bytes = new Uint8Array(how.buffer);
    if (key !== -1) this.#hows.set(key, bytes);
    return bytes;
  }

  /** The next call overwrites the returned struct statx. With null as `path`, the facts describe the descriptor's
   * file. */
  stat(folder: number, path: string | null): DataView {
    const flags = path === null ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
    const name = path === null ? this.#empty : terminated(path);
    for (let tries = 0;; tries++) {
      const done = this.#symbols.statx(this.#calls.statx, folder, name, flags, STATX_BASIC_AND_BIRTH, this.#statBytes);
      if (done === 0) return this.#stat;
      const code = this.#errno();
      // statx does not fail with EAGAIN, so a call of the runtime has overwritten errno.
      if (code !== EAGAIN || tries === RETRIES) throw this.#error("statx", { code, path: path ?? "" });
    }
  }

  stamp(folder: number, name: Bytes, into: Float64Array, at: number): void {
    const bytes = this.#statBytes, stat = this.#stat;
    const code = this.#symbols.statx(this.#calls.statx, folder, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC, bytes);
    if (code !== 0) return;
    const long = (from: number): number => stat.getUint32(from, true) + stat.getUint32(from + 4, true) * 2 ** 32;
    const time = (from: number): number => long(from) * 1_000 + stat.getUint32(from + 8, true) / 1e6;
    into[at] = stat.getUint16(28, true);
    into[at + 1] = long(32);
    into[at + 2] = long(40);
    into[at + 3] = time(112);
    into[at + 4] = time(96);
  }

  transfer(call: "read" | "write" | "getdents64", descriptor: number, bytes: Bytes): number {
    for (;;) {
      const count = this.#symbols.buffered(this.#calls[call], descriptor, bytes, bytes.length);
      if (count >= 0) return count;
      const code = this.#errno();
      if (code !== EINTR) throw this.#error(call, { code, path: "" });
    }
  }

  seek(descriptor: number, to: number): void {
    if (this.#symbols.seek(this.#calls.lseek, descriptor, BigInt(to), 0) >= 0n) return;
    throw this.#error("lseek", { code: this.#errno(), path: "" });
  }

  readLink(folder: number, path: string): string {
    const into = new Uint8Array(4096);
    const count = this.#symbols.readlinkat(this.#calls.readlinkat, folder, terminated(path), into, into.length);
    this.#check(count, "readlinkat", path);
    return nameText(into.subarray(0, count));
  }

  makeLink(folder: number, path: string, { target }: { readonly target: string }): void {
    const code = this.#symbols.symlinkat(this.#calls.symlinkat, terminated(target), folder, terminated(path));
    this.#check(code, "symlinkat", path);
  }

  makeFolder(folder: number, path: string, { mode }: { readonly mode: number }): void {
    this.#check(this.#symbols.mode(this.#calls.mkdirat, folder, terminated(path), mode), "mkdirat", path);
  }

  remove(folder: number, path: string, { isFolder }: { readonly isFolder: boolean }): void {
    const flags = isFolder ? AT_REMOVEDIR : 0;
    this.#check(this.#symbols.mode(this.#calls.unlinkat, folder, terminated(path), flags), "unlinkat", path);
  }

  rename(from: { folder: number; path: string }, to: { folder: number; path: string; flags: number }): void {
    const [before, after] = [terminated(from.path), terminated(to.path)];
    const number = this.#calls.renameat2;
    this.#check(
      this.#symbols.renameat2(number, from.folder, before, to.folder, after, to.flags),
      "renameat2",
      from.path,
    );
  }

  attributes(descriptor: number): readonly string[] {
    const into = new Uint8Array(ATTRIBUTE_BYTES);
    const count = this.#symbols.buffered(this.#calls.flistxattr, descriptor, into, into.length);
    if (count < 0) return this.#errno() === ERANGE ? ["more than fit"] : [];
    return new TextDecoder().decode(into.subarray(0, count)).split("\0").filter((name) => name !== "");
  }

  attribute(descriptor: number, name: string): Bytes | null {
    const into = new Uint8Array(MAX_VALUE);
    const count = this.#symbols.readlinkat(this.#calls.fgetxattr, descriptor, terminated(name), into, into.length);
    return count < 0 ? null : into.subarray(0, count);
  }

  setAttribute(descriptor: number, name: string, value: Bytes): boolean {
    const { fsetxattr } = this.#calls;
    return this.#symbols.fsetxattr(fsetxattr, descriptor, terminated(name), value, value.length, 0) === 0;
  }

  mayWriteIn(folder: number): boolean {
    return this.#symbols.mode(this.#calls.faccessat, folder, terminated("."), W_OK_AND_X_OK) === 0;
  }

  reserve(descriptor: number, size: number): void {
    const done = this.#symbols.allocate(this.#calls.fallocate, descriptor, KEEP_SIZE, 0n, BigInt(size));
    const code = done < 0n ? this.#errno() : 0;
    // Some file systems cannot reserve room, so Vis ignores other error codes.
    if (code in REASONS) throw this.#error("fallocate", { code, path: "" });
  }

  setSize(descriptor: number, size: number): void {
    const done = this.#symbols.seek(this.#calls.ftruncate, descriptor, BigInt(size), 0);
    if (done < 0n) throw this.#error("ftruncate", { code: this.#errno(), path: "" });
  }

  setMode(descriptor: number, mode: number): void {
    this.#check(this.#symbols.numbers(this.#calls.fchmod, descriptor, mode, 0), "fchmod", "");
  }

  setOwner(descriptor: number, { uid, gid }: { readonly uid: number; readonly gid: number }): boolean {
    return this.#symbols.numbers(this.#calls.fchown, descriptor, uid, gid) === 0;
  }

  isLocked(path: string): boolean {
    const file = this.#open(AT_FDCWD, path, { flags: 0, resolve: 0n });
    try {
      return this.#symbols.numbers(this.#calls.flock, file, LOCK_EX_NB, 0) !== 0;
    } finally {
      this.close(file);
    }
  }

  openEvents(): number | null {
    const at = this.#symbols.numbers(this.#calls.inotify_init1, OPEN.closeOnExec | OPEN.nonBlocking, 0, 0);
    return at < 0 ? null : at;
  }

  watch(events: number, path: string, mask: number): number {
    return this.#symbols.mode(this.#calls.inotify_add_watch, events, terminated(path), mask);
  }

  readEvents(events: number, bytes: Bytes): number {
    return Math.max(0, this.#symbols.buffered(this.#calls.read, events, bytes, bytes.length));
  }

  async sync(descriptor: number): Promise<void> {
    if (await this.#symbols.fdatasync(descriptor) < 0) {
      throw new Error("The system could not save it on the disk; check the disk and its free space");
    }
  }

  close(descriptor: number): void {
    this.#symbols.numbers(this.#calls.close, descriptor, 0, 0);
  }

  #check(result: number, call: Call, path: string): void {
    if (result < 0) throw this.#error(call, { code: this.#errno(), path });
  }

  #errno(): number {
    const at = this.#symbols.errno();
    return at ? new Deno.UnsafePointerView(at).getInt32() : 0;
  }

  #error(call: Call, { code, path }: { readonly code: number; readonly path: string }): Error {
    if (call === "renameat2" && code === EXDEV) return new Error("The new path is on another file system");
    const Class = ERRORS[code] ?? Error;
    return new Class(REASONS[code] ?? `${call} failed${path === "" ? "" : ` for ${path}`} (${errnoText(code)})`);
  }
}

const isArm = Deno.build.arch === "aarch64";
export const OPEN = {
  write: 0o1,
  create: 0o300,
  noTerminal: 0o400,
  nonBlocking: 0o4000,
  folder: isArm ? 0o40000 : 0o200000,
  noFollow: isArm ? 0o100000 : 0o400000,
  path: 0o10000000,
  closeOnExec: 0o2000000,
} as const;
