import { type Kernel, OPEN } from "./kernel.ts";
import {
  type Attributes,
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
import { Pace } from "@vis/extension";

const KINDS: Readonly<Record<number, Facts["kind"]>> = { 0o100000: "file", 0o040000: "dir", 0o120000: "link" };
const ENTRY_KINDS: Readonly<Record<number, Facts["kind"]>> = { 8: "file", 4: "dir", 10: "link" };
const RENAME_NOREPLACE = 1;
const NEW_FILE = 0o666, NEW_FOLDER = 0o777;
const LIST_BYTES = 64 * 1024;
/** New contents must not run with the rights of another user or group, so set-id bits are absent. */
const PLAIN_MODE = 0o777;
const WRITE_BYTES = 1024 * 1024;
const ENTRY_HEAD = 19;
const MOUNT_ROOT = 0x2000;
const IS_ROOT = Deno.build.os !== "windows" && Deno.uid() === 0;
/** The system sets some of these attributes on a new file, and the others must not pass to new contents. */
const SET_BY_SYSTEM = new Set(["security.selinux", "security.capability", "security.ima", "security.evm"]);

export class KernelTree implements Tree, Disposable {
  readonly #kernel: Kernel;
  readonly #top: string;
  readonly below: string;
  readonly top: string | undefined;
  readonly #held: number | null;

  constructor(kernel: Kernel, top: string, { below = "", isAdded = false, isHeld = false } = {}) {
    this.#kernel = kernel;
    this.#top = top;
    this.below = below;
    this.top = isAdded ? top : undefined;
    this.#held = isHeld ? kernel.openRoot(top) : null;
  }

  held(): KernelTree {
    return new KernelTree(this.#kernel, this.#top, {
      below: this.below,
      isAdded: this.top !== undefined,
      isHeld: true,
    });
  }

  [Symbol.dispose](): void {
    if (this.#held !== null) this.#kernel.close(this.#held);
  }

  look(path: string): Facts | null {
    return orNull(() => this.#with(path, OPEN.path | OPEN.noFollow, (at) => factsOf(this.#kernel.stat(at, null))));
  }

  lookUnlinked(path: string): Facts | null {
    try {
      const facts = this.look(path);
      return facts?.kind === "link" ? null : facts;
    } catch {
      return null;
    }
  }

  open(path: string): OpenFile {
    const flags = OPEN.nonBlocking | OPEN.noTerminal | OPEN.noFollow;
    const at = this.#openAt(path, flags);
    try {
      return new KernelFile(this.#kernel, at);
    } catch (error) {
      this.#kernel.close(at);
      throw error;
    }
  }

  entries(path: string): readonly FolderEntry[] {
    return this.#with(path, OPEN.folder, (at) => listOf(this.#kernel, { at, path }));
  }

  readLink(path: string): string {
    return this.#with(path, OPEN.path | OPEN.noFollow, (at) => this.#kernel.readLink(at, ""));
  }

  stamps(folder: string, names: readonly Uint8Array<ArrayBuffer>[], into: Float64Array): void {
    into.fill(0);
    const write = (at: number): void => names.forEach((name, i) => this.#kernel.stamp(at, name, into, i * STAMP));
    try {
      this.#with(folder, OPEN.path | OPEN.folder, write);
    } catch { /* If Vis cannot open the folder, for example because it is a link now, the stamps stay zero. */ }
  }

  folder(path: string, visit: (folder: OpenFolder) => void): OpenFolder {
    const whole = fromTop(this, path);
    let folder = new KernelFolder(this.#kernel, this.#kernel.openRoot(this.#top));
    for (const name of whole === "." ? [] : whole.split("/")) {
      try {
        const next = folder.enter(name);
        folder[Symbol.dispose]();
        folder = next;
        visit(folder);
      } catch (error) {
        folder[Symbol.dispose]();
        throw error;
      }
    }
    return folder;
  }

  #openAt(path: string, flags: number): number {
    const whole = fromTop(this, path);
    if (this.#held !== null) return this.#kernel.open(this.#held, whole, { flags });
    return this.#kernel.openBelow(this.#top, whole, { flags });
  }

  #with<Result>(path: string, flags: number, use: (at: number) => Result): Result {
    const at = this.#openAt(path, flags);
    try {
      return use(at);
    } finally {
      this.#kernel.close(at);
    }
  }
}

class KernelEntry {
  readonly facts: Facts;

  constructor(protected readonly kernel: Kernel, protected readonly at: number) {
    this.facts = factsOf(kernel.stat(at, null));
  }

  [Symbol.dispose](): void {
    this.kernel.close(this.at);
  }
}

class KernelFile extends KernelEntry implements OpenFile {
  constructor(kernel: Kernel, at: number) {
    super(kernel, at);
    if (this.facts.kind !== "file") throw new Deno.errors.IsADirectory("not a regular file");
  }

  read(into: Uint8Array<ArrayBuffer>): number {
    return into.length === 0 ? 0 : this.kernel.transfer("read", this.at, into);
  }

  seek(to: number): void {
    this.kernel.seek(this.at, to);
  }

  attributes(): Attributes | undefined {
    const names = this.kernel.attributes(this.at).filter((name) => !SET_BY_SYSTEM.has(name));
    const found = names.flatMap((name) => {
      const value = this.kernel.attribute(this.at, name);
      return value === null ? [] : [[name, value.toBase64()] as const];
    });
    return found.length === 0 ? undefined : Object.fromEntries(found);
  }
}

class KernelFolder extends KernelEntry implements OpenFolder {
  enter(name: string): KernelFolder {
    return new KernelFolder(this.kernel, this.kernel.open(this.at, name, { flags: OPEN.path | OPEN.folder }));
  }

  look(name: string): Facts | null {
    return orNull(() => factsOf(this.kernel.stat(this.at, name)));
  }

  async create(name: string, { bytes, mode, owner, attributes = {} }: NewFile): Promise<void> {
    const flags = OPEN.write | OPEN.create | OPEN.noFollow;
    const at = this.kernel.open(this.at, name, { flags, mode: mode === null ? NEW_FILE : 0o600 });
    try {
      const pace = new Pace();
      for (let done = 0; done < bytes.length;) {
        done += this.kernel.transfer("write", at, bytes.subarray(done, done + WRITE_BYTES));
        if (pace.due) await pace.rest();
      }
      const wanted = owner ?? this.#ownerOfNew;
      if (wanted) this.kernel.setOwner(at, wanted);
      if (mode !== null) this.kernel.setMode(at, mode & PLAIN_MODE);
      for (const [name, value] of Object.entries(attributes)) {
        if (!SET_BY_SYSTEM.has(name)) this.kernel.setAttribute(at, name, Uint8Array.fromBase64(value));
      }
      await this.kernel.sync(at);
    } finally {
      this.kernel.close(at);
    }
  }

  staysInPlace(name: string): boolean {
    const facts = this.look(name);
    if (facts?.kind !== "file") return false;
    const isForeign = !IS_ROOT && (facts.uid !== Deno.uid() || facts.gid !== Deno.gid());
    if (isForeign || facts.names > 1 || facts.isMount || !this.kernel.mayWriteIn(this.at)) return true;
    const at = this.kernel.open(this.at, name, { flags: OPEN.nonBlocking | OPEN.noTerminal | OPEN.noFollow });
    try {
      return this.kernel.attributes(at).some((one) => !SET_BY_SYSTEM.has(one));
    } finally {
      this.kernel.close(at);
    }
  }

  async overwrite(name: string, { bytes, mode }: Pick<NewFile, "bytes" | "mode">): Promise<void> {
    const flags = OPEN.write | OPEN.nonBlocking | OPEN.noTerminal | OPEN.noFollow;
    const at = this.kernel.open(this.at, name, { flags });
    try {
      const before = factsOf(this.kernel.stat(at, null));
      if (before.kind !== "file") throw new Deno.errors.IsADirectory("not a regular file");
      if (bytes.length > before.size) this.kernel.reserve(at, bytes.length);
      const pace = new Pace();
      for (let done = 0; done < bytes.length;) {
        done += this.kernel.transfer("write", at, bytes.subarray(done, done + WRITE_BYTES));
        if (pace.due) await pace.rest();
      }
      this.kernel.setSize(at, bytes.length);
      if (mode !== null && (mode & PLAIN_MODE) !== (before.mode & PLAIN_MODE)) {
        this.kernel.setMode(at, mode & PLAIN_MODE);
      }
      await this.kernel.sync(at);
    } finally {
      this.kernel.close(at);
    }
  }

  makeLink(name: string, target: string): void {
    this.kernel.makeLink(this.at, name, { target });
  }

  makeFolder(name: string, mode = NEW_FOLDER): void {
    this.kernel.makeFolder(this.at, name, { mode });
    const owner = this.#ownerOfNew;
    if (owner === null) return;
    const made = this.kernel.open(this.at, name, { flags: OPEN.folder });
    try {
      this.kernel.setOwner(made, owner);
    } finally {
      this.kernel.close(made);
    }
  }

  /** If root creates an entry in the folder of another user, the entry must belong to that user. */
  get #ownerOfNew(): NonNullable<NewFile["owner"]> | null {
    const { uid, gid } = this.facts;
    return IS_ROOT && uid !== 0 ? { uid, gid } : null;
  }

  rename(name: string, to: { readonly folder: OpenFolder; readonly name: string; readonly keep?: boolean }): void {
    if (!(to.folder instanceof KernelFolder)) {
      throw new TypeError(`Cannot rename ${name}: the target folder is not a KernelFolder`);
    }
    const flags = to.keep ? RENAME_NOREPLACE : 0;
    this.kernel.rename({ folder: this.at, path: name }, { folder: to.folder.at, path: to.name, flags });
  }

  remove(name: string): void {
    this.kernel.remove(this.at, name, { isFolder: false });
  }

  removeFolder(name: string): void {
    this.kernel.remove(this.at, name, { isFolder: true });
  }
}

function factsOf(stat: DataView): Facts {
  const mode = stat.getUint16(28, true);
  const device = `${stat.getUint32(136, true)}:${stat.getUint32(140, true)}`;
  const born = `${stat.getBigInt64(80, true)}.${stat.getUint32(88, true)}`;
  return {
    kind: KINDS[mode & 0o170000] ?? "other",
    size: Number(stat.getBigUint64(40, true)),
    modified: Number(stat.getBigInt64(112, true)) * 1000 + Math.floor(stat.getUint32(120, true) / 1e6),
    mode: mode & 0o7777,
    uid: stat.getUint32(20, true),
    gid: stat.getUint32(24, true),
    names: stat.getUint32(16, true),
    isMount: (stat.getUint32(8, true) & MOUNT_ROOT) !== 0,
    id: `${device}:${stat.getBigUint64(32, true)}:${born}`,
  };
}

function listOf(kernel: Kernel, { at, path }: { readonly at: number; readonly path: string }): readonly FolderEntry[] {
  const found: FolderEntry[] = [];
  const buffer = new Uint8Array(LIST_BYTES);
  const view = new DataView(buffer.buffer);
  for (let count = kernel.transfer("getdents64", at, buffer); count > 0;) {
    for (let from = 0; from < count; from += view.getUint16(from + 16, true)) {
      const start = from + ENTRY_HEAD;
      const name = nameText(buffer.subarray(start, buffer.indexOf(0, start)));
      if (name === "." || name === "..") continue;
      if (found.length === MAX_NAMES) throw new FolderTooLarge(path);
      const type = view.getUint8(from + 18);
      found.push({ name, kind: type === 0 ? kindOf(kernel, at, name) : ENTRY_KINDS[type] ?? "other" });
    }
    count = kernel.transfer("getdents64", at, buffer);
  }
  return found;
}

function kindOf(kernel: Kernel, at: number, name: string): Facts["kind"] {
  return orNull(() => factsOf(kernel.stat(at, name)).kind) ?? "other";
}

function orNull<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}
