import { dirname } from "node:path";
import type { CommonCall } from "../confine/call_numbers.ts";
import type { Libc } from "../confine/libc.ts";
import { openReal } from "../confine/open_real.ts";

const CLONE_NEWNS = 0x20000n, CLONE_NEWIPC = 0x8000000n;
const MS_NOSUID = 2n, MS_NODEV = 4n, MS_NOEXEC = 8n, MS_REC = 0x4000n, MS_PRIVATE = 0x40000n;
const ATTR_RDONLY = 1n, ATTR_NOSUID = 2n, ATTR_NODEV = 4n;
const AT_FDCWD = BigInt.asUintN(64, -100n), AT_NO_FOLLOW = 0x100n, AT_EMPTY_PATH = 0x1000n, AT_RECURSIVE = 0x8000n;
const CLONE_CLOEXEC = 1n | 0o2000000n, FROM_DESCRIPTOR = 4n, MNT_DETACH = 2n;
const REGULAR_FILE = 0o100600n;
const ATTRIBUTE_BYTES = 32n;
/** The largest share of memory that an empty file system takes. */
const EMPTY_OPTIONS = "mode=755,size=25%";

/** The machine does not allow a step. */
export class MountFault extends Error {}

/** Builds a file system out of parts of the machine's, for this thread and what it becomes. */
export class Mounts {
  readonly #libc: Libc;
  /** They must stay where they are until the kernel has read them. */
  readonly #texts: Uint8Array<ArrayBuffer>[] = [];

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /** Nothing that is mounted from now on is seen by others. */
  separate(): void {
    this.#must("unshare", "unshare", [CLONE_NEWNS | CLONE_NEWIPC]);
    this.#must("make mounts private", "mount", [0n, this.#text("/"), 0n, MS_REC | MS_PRIVATE]);
  }

  /** A descriptor of a copy of what is at a path, which is a link only where that is wanted. */
  copy(path: string, { link } = { link: false }): number {
    const real = openReal(this.#libc, path, { link });
    const flags = CLONE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE;
    const copy = this.#must(`copy ${path}`, "open_tree", [BigInt(real), this.#text(""), flags]);
    this.#libc.closeDescriptor(real);
    return copy;
  }

  /** An empty file system in memory. */
  empty(at: string): void {
    const kind = this.#text("tmpfs");
    this.#must("an empty one", "mount", [kind, this.#text(at), kind, MS_NOSUID | MS_NODEV, this.#text(EMPTY_OPTIONS)]);
  }

  /** The processes of the program. */
  processes(at: string): void {
    const kind = this.#text("proc");
    const flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    this.#must("mount its processes", "mount", [kind, this.#text(at), kind, flags, this.#text("hidepid=ptraceable")]);
  }

  /** A folder or file that something can be placed on. */
  makePlace(path: string, folder: boolean): void {
    if (!folder) {
      this.makePlace(dirname(path), true);
      this.#mayExist("make", path, () => this.#libc.call("mknodat", [AT_FDCWD, this.#text(path), REGULAR_FILE]));
      return;
    }
    for (let end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", end + 1)) this.#folder(path.slice(0, end));
    this.#folder(path);
  }

  place(
    copy: number,
    { at, folder, writable }: { readonly at: string; readonly folder: boolean; readonly writable: boolean },
  ): void {
    const attributes = ATTR_NOSUID | (folder ? ATTR_NODEV : 0n) | (writable ? 0n : ATTR_RDONLY);
    this.#setAttributes(copy, attributes, AT_RECURSIVE);
    if (writable) this.#tryAttributes(copy, { set: 0n, clear: ATTR_RDONLY, flags: 0n });
    this.#must(`place ${at}`, "move_mount", [
      BigInt(copy),
      this.#text(""),
      AT_FDCWD,
      this.#text(at),
      FROM_DESCRIPTOR,
    ]);
    this.#libc.closeDescriptor(copy);
  }

  /** Places a file over another one, which may have been removed meanwhile. */
  cover(at: string, copy: number): void {
    this.#setAttributes(copy, ATTR_NOSUID | ATTR_RDONLY, 0n);
    const args = [BigInt(copy), this.#text(""), AT_FDCWD, this.#text(at), FROM_DESCRIPTOR] as const;
    const result = this.#libc.call("move_mount", args);
    const errno = this.#libc.errno();
    this.#libc.closeDescriptor(copy);
    if (result === 0 || this.#libc.call("faccessat2", [AT_FDCWD, this.#text(at), 0n, AT_NO_FOLLOW]) !== 0) return;
    throw new MountFault(`hide ${at}: errno ${errno}`);
  }

  link(path: string, to: string): void {
    this.makePlace(dirname(path), true);
    this.#mayExist("link", path, () => this.#libc.call("symlinkat", [this.#text(to), AT_FDCWD, this.#text(path)]));
  }

  /** Makes a mount the root of all files, keeps it as it is, and gives up everything else. */
  enter(base: string, folder: string): void {
    const root = openReal(this.#libc, base);
    this.#setAttributes(root, ATTR_RDONLY, 0n);
    this.#libc.closeDescriptor(root);
    const here = this.#text(".");
    this.#must("go to the root", "chdir", [this.#text(base)]);
    this.#must("change the root", "pivot_root", [here, here]);
    this.#must("leave the old root", "umount2", [here, MNT_DETACH]);
    this.#must("go to the folder", "chdir", [this.#text(folder)]);
  }

  #folder(path: string): void {
    this.#mayExist("make", path, () => this.#libc.call("mkdirat", [AT_FDCWD, this.#text(path), 0o755n]));
  }

  #setAttributes(descriptor: number, set: bigint, flags: bigint): void {
    if (this.#tryAttributes(descriptor, { set, clear: 0n, flags }) === 0) return;
    throw new MountFault(`set attributes: errno ${this.#libc.errno()}`);
  }

  #tryAttributes(
    descriptor: number,
    { set, clear, flags }: { readonly set: bigint; readonly clear: bigint; readonly flags: bigint },
  ): number {
    const change = new Uint8Array(new BigUint64Array([set, clear, 0n, 0n]).buffer);
    const where = [BigInt(descriptor), this.#text(""), AT_EMPTY_PATH | flags] as const;
    return this.#libc.call("mount_setattr", [...where, this.#libc.address(change), ATTRIBUTE_BYTES]);
  }

  #must(what: string, name: CommonCall, args: Parameters<Libc["call"]>[1]): number {
    const result = this.#libc.call(name, args);
    if (result < 0) throw new MountFault(`${what}: errno ${this.#libc.errno()}`);
    return result;
  }

  /** Looks at the path itself: what the runtime does between two calls can change errno. */
  #mayExist(what: string, path: string, make: () => number): void {
    if (make() === 0) return;
    const errno = this.#libc.errno();
    if (this.#libc.call("faccessat2", [AT_FDCWD, this.#text(path), 0n, AT_NO_FOLLOW]) === 0) return;
    throw new MountFault(`${what} ${path}: errno ${errno}`);
  }

  #text(text: string): bigint {
    const bytes = new TextEncoder().encode(`${text}\0`);
    this.#texts.push(bytes);
    return this.#libc.address(bytes);
  }
}
