import {
  type Facts,
  type FolderEntry,
  FolderTooLarge,
  fromTop,
  MAX_NAMES,
  nameText,
  type NewFile,
  type OpenFile,
  type OpenFolder,
  STAMP,
  type Tree,
} from "./tree.ts";
import { openPlainFile } from "@vis/extension";
import { closeSync, readSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Systems without openat2 need this tree. A program that replaces a folder with a link after the check can lead a path
 * outside. */
export class PathTree implements Tree, Disposable {
  readonly #top: string;
  readonly below: string;
  readonly top: string | undefined;

  constructor(top: string, { below = "", isAdded = false } = {}) {
    this.#top = top;
    this.below = below;
    this.top = isAdded ? top.replaceAll(sep, "/") : undefined;
  }

  held(): PathTree {
    return this;
  }

  [Symbol.dispose](): void {}

  look(path: string): Facts | null {
    return lookAt(this.#real(path));
  }

  /** Returns null, because some file systems find an entry by other names. */
  lookUnlinked(): null {
    return null;
  }

  open(path: string): OpenFile {
    const real = this.#unlinked(path), info = Deno.lstatSync(real), file = openPlainFile(real);
    if (file === null) {
      throw info.isFile
        ? new Deno.errors.PermissionDenied("not readable")
        : new Deno.errors.IsADirectory("not a regular file");
    }
    let at = 0;
    return {
      facts: factsOf(info),
      read: (into) => {
        const count = readSync(file, into, 0, into.length, at);
        at += count;
        return count;
      },
      attributes: () => undefined,
      seek: (to) => void (at = to),
      [Symbol.dispose]: () => closeSync(file),
    };
  }

  entries(path: string): readonly FolderEntry[] {
    const found: FolderEntry[] = [];
    for (const entry of Deno.readDirSync(this.#unlinked(path))) {
      if (found.length === MAX_NAMES) throw new FolderTooLarge(path);
      found.push({ name: entry.name, kind: kindOf(entry) });
    }
    return found;
  }

  readLink(path: string): string {
    return Deno.readLinkSync(this.#real(path));
  }

  stamps(folder: string, names: readonly Uint8Array<ArrayBuffer>[], into: Float64Array): void {
    into.fill(0);
    for (const [i, name] of names.entries()) {
      try {
        const info = Deno.lstatSync(join(this.#real(folder), nameText(name.subarray(0, -1))));
        const kind = info.isSymlink ? 0o120000 : info.isDirectory ? 0o040000 : info.isFile ? 0o100000 : 0;
        const mode = kind | (info.mode ?? 0) & 0o7777;
        const times = [info.mtime?.getTime() ?? 0, (info.ctime ?? info.mtime)?.getTime() ?? 0];
        into.set([mode, info.ino ?? 0, info.size, ...times], i * STAMP);
      } catch { /* A missing or unreadable path gets zeros. */ }
    }
  }

  folder(path: string, visit: (folder: OpenFolder) => void): OpenFolder {
    let folder = new PathFolder(this.#top);
    const done: string[] = [], whole = fromTop(this, path);
    for (const name of whole === "." ? [] : whole.split("/")) {
      done.push(name);
      const at = this.#realFromTop(done.join("/"));
      const info = Deno.lstatSync(at);
      if (info.isSymlink) throw new Deno.errors.FilesystemLoop(`${done.join("/")} is a link`);
      if (!info.isDirectory) throw new Deno.errors.NotADirectory(name);
      folder = new PathFolder(at);
      visit(folder);
    }
    return folder;
  }

  #unlinked(path: string): string {
    const real = this.#real(path);
    if (lookAt(real)?.kind === "link") throw new Deno.errors.FilesystemLoop(`${path} is a link`);
    return real;
  }

  #real(path: string): string {
    return this.#realFromTop(fromTop(this, path));
  }

  #realFromTop(path: string): string {
    const wanted = join(this.#top, path);
    const parent = path.includes("/") ? join(wanted, "..") : this.#top;
    let real = parent;
    try {
      real = Deno.realPathSync(parent);
    } catch { /* The next call throws a better error. */ }
    if (real !== parent || relative(this.#top, wanted).split(sep)[0] === "..") {
      throw new Deno.errors.FilesystemLoop(`${path} leads elsewhere`);
    }
    return wanted;
  }
}

class PathFolder implements OpenFolder {
  readonly facts: Facts;
  readonly #at: string;

  constructor(at: string) {
    this.#at = at;
    this.facts = factsOf(Deno.lstatSync(at));
  }

  look(name: string): Facts | null {
    return lookAt(join(this.#at, name));
  }

  async create(name: string, { bytes, mode, owner }: NewFile): Promise<void> {
    const path = join(this.#at, name);
    using file = Deno.openSync(path, { write: true, createNew: true, ...(mode === null ? {} : { mode: 0o600 }) });
    for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
    await file.syncData();
    try {
      if (owner) Deno.chownSync(path, owner.uid, owner.gid);
    } catch { /* Some users and systems cannot set an owner. */ }
    if (mode !== null && Deno.build.os !== "windows") Deno.chmodSync(path, mode & 0o777);
  }

  staysInPlace(name: string): boolean {
    const facts = this.look(name);
    if (facts?.kind !== "file" || Deno.build.os === "windows") return false;
    return facts.names > 1 || Deno.uid() !== 0 && (facts.uid !== Deno.uid() || facts.gid !== Deno.gid());
  }

  async overwrite(name: string, { bytes, mode }: Pick<NewFile, "bytes" | "mode">): Promise<void> {
    const path = join(this.#at, name);
    using file = Deno.openSync(path, { write: true });
    for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
    await file.truncate(bytes.length);
    await file.syncData();
    if (mode !== null && Deno.build.os !== "windows") Deno.chmodSync(path, mode & 0o777);
  }

  makeLink(name: string, target: string): void {
    Deno.symlinkSync(target, join(this.#at, name));
  }

  makeFolder(name: string, mode = 0o777): void {
    Deno.mkdirSync(join(this.#at, name), { mode });
  }

  rename(name: string, to: { readonly folder: OpenFolder; readonly name: string; readonly keep?: boolean }): void {
    if (!(to.folder instanceof PathFolder)) {
      throw new TypeError(`Cannot rename ${name}: the target folder is not a PathFolder`);
    }
    if (to.keep && to.folder.look(to.name) !== null) throw new Deno.errors.AlreadyExists(to.name);
    Deno.renameSync(join(this.#at, name), join(to.folder.#at, to.name));
  }

  remove(name: string): void {
    if (this.look(name)?.kind === "dir") throw new Deno.errors.IsADirectory(name);
    Deno.removeSync(join(this.#at, name));
  }

  removeFolder(name: string): void {
    if (this.look(name)?.kind !== "dir") throw new Deno.errors.NotADirectory(name);
    Deno.removeSync(join(this.#at, name));
  }

  [Symbol.dispose](): void {}
}

function lookAt(path: string): Facts | null {
  try {
    return factsOf(Deno.lstatSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

function factsOf(info: Deno.FileInfo): Facts {
  return {
    kind: kindOf(info),
    size: info.size,
    modified: info.mtime?.getTime() ?? 0,
    mode: (info.mode ?? 0o644) & 0o7777,
    uid: info.uid ?? 0,
    gid: info.gid ?? 0,
    names: info.nlink ?? 1,
    isMount: false,
    id: `${info.dev}:${info.ino}:${info.birthtime?.getTime() ?? 0}`,
  };
}

function kindOf(info: { readonly isFile: boolean; readonly isDirectory: boolean; readonly isSymlink: boolean }) {
  return info.isSymlink ? "link" : info.isDirectory ? "dir" : info.isFile ? "file" : "other";
}
