import { advised, Pace } from "@vis/extension";
import { createHash } from "node:crypto";
import { posix } from "node:path";

export interface Facts {
  readonly kind: "file" | "dir" | "link" | "other";
  readonly size: number;
  readonly modified: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly names: number;
  readonly isMount: boolean;
  /** The id stays the same while the entry exists, even after a rename. */
  readonly id: string;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: Facts["kind"];
}

export const MAX_NAMES = 100_000;

export class FolderTooLarge extends RangeError {
  override readonly name = "FolderTooLarge";

  constructor(folder: string) {
    super(`Cannot list ${folder}: it has more than ${MAX_NAMES} names, the limit`);
    advised(this, "name files in it, or add it to .gitignore");
  }
}

export interface OpenFile extends Disposable {
  readonly facts: Facts;
  read(into: Uint8Array<ArrayBuffer>): number;
  seek(to: number): void;
  /** Returns undefined without attributes that a new file could get, or if the tree cannot read attributes. */
  attributes(): Attributes | undefined;
}

export type Attributes = Readonly<Record<string, string>>;

export interface NewFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mode: number | null;
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly attributes?: Attributes | undefined;
}

/** With `KernelTree`, a rename of the folder does not affect the object, and its methods follow no links. */
export interface OpenFolder extends Disposable {
  readonly facts: Facts;
  look(name: string): Facts | null;
  /** Rejects with `AlreadyExists` if the name is taken. When `create` resolves, the bytes are on the disk. */
  create(name: string, file: NewFile): Promise<void>;
  /** Returns true if Vis must overwrite the file, because a replacement is impossible or would lose facts that the tree
   * can read. */
  staysInPlace(name: string): boolean;
  /** After an error or a kill, the file may have parts of both contents. When `overwrite` resolves, the bytes are on
   * the disk. */
  overwrite(name: string, file: Pick<NewFile, "bytes" | "mode">): Promise<void>;
  makeLink(name: string, target: string): void;
  makeFolder(name: string, mode?: number): void;
  /** Without `keep`, `rename` replaces an existing entry. With `keep`, `rename` throws `AlreadyExists`. */
  rename(name: string, to: { readonly folder: OpenFolder; readonly name: string; readonly keep?: boolean }): void;
  remove(name: string): void;
  removeFolder(name: string): void;
}

/** A path is absolute in an added folder, and else relative to the workspace, with `..` in the repository around it.
 * Except for `lookUnlinked` and `stamps`, methods throw `FilesystemLoop` if a folder in the path is a link. */
export interface Tree {
  /** The path of the workspace in its repository is "" if the workspace is the root or in no repository. */
  readonly below: string;
  /** Only the tree of an added folder has this absolute path of its top. */
  readonly top?: string | undefined;
  /** These absolute paths are the added folders that the tree also serves. */
  readonly added?: readonly string[];
  look(path: string): Facts | null;
  /** Returns null if the entry is missing, a part of the path is a link, or the entry may have another path. */
  lookUnlinked(path: string): Facts | null;
  open(path: string): OpenFile;
  entries(path: string): readonly FolderEntry[];
  readLink(path: string): string;
  /** Each name ends with NUL. `into` gets `STAMP` numbers for each name, and zeros for a missing entry. */
  stamps(folder: string, names: readonly Uint8Array<ArrayBuffer>[], into: Float64Array): void;
  folder(path: string, visit: (folder: OpenFolder) => void): OpenFolder;
  /** The caller disposes the returned tree, which may keep its root open between calls. With `path`, the tree need serve
   * only this folder. */
  held(path?: string): Tree & Disposable;
}

export const STAMP = 5;
export const AT = { mode: 0, inode: 1, size: 2, modified: 3, changed: 4 } as const;

const NOT_TEXT = 0xfffd;
const MARK = "\ufffd";
const ESCAPED = /\ufffd([89A-F][0-9A-F])/g;
const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A byte that is not UTF-8 becomes U+FFFD and two hexadecimal digits (`caf\ufffdE9.txt`), and `nameBytes` restores the
 * byte. */
export function nameText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = strict.decode(bytes);
    if (!text.includes(MARK)) return text;
  } catch {
    text = decoder.decode(bytes);
  }
  if (sameBytes(nameBytes(text), bytes)) return text;
  return escaped(bytes);
}

export function nameBytes(text: string): Uint8Array<ArrayBuffer> {
  if (!text.includes(MARK)) return encoder.encode(text);
  const parts: number[] = [];
  let done = 0;
  for (const found of text.matchAll(ESCAPED)) {
    parts.push(...encoder.encode(text.slice(done, found.index)), parseInt(found[1] ?? "", 16));
    done = found.index + found[0].length;
  }
  parts.push(...encoder.encode(text.slice(done)));
  return new Uint8Array(parts);
}

function escaped(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at);
    const char = length === 0 ? "" : textOf(bytes.subarray(at, at + length));
    if (char === "" || char.codePointAt(0) === NOT_TEXT) {
      const raw = bytes.subarray(at, at + Math.max(1, length));
      for (const byte of raw) text += MARK + byte.toString(16).toUpperCase();
      at += raw.length;
    } else {
      text += char;
      at += length;
    }
  }
  return text;
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  return length > 0 && textOf(bytes.subarray(at, at + length)) !== "" ? length : 0;
}

function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return "";
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

const SLICE = 1024 * 1024;

export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  const pace = new Pace();
  for (let at = 0; at < bytes.length; at += SLICE) {
    if (pace.due) await pace.rest();
    hash.update(bytes.subarray(at, at + SLICE));
  }
  return hash.digest("hex");
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export class TreeWithAdded implements Tree, Disposable {
  readonly below: string;
  readonly added: readonly string[];
  readonly #own: Tree & Partial<Disposable>;
  readonly #added: readonly (Tree & Partial<Disposable>)[];

  constructor(own: Tree & Partial<Disposable>, added: readonly (Tree & Partial<Disposable>)[]) {
    this.below = own.below;
    this.added = added.flatMap(({ top }) => top ?? []);
    this.#own = own;
    this.#added = added;
  }

  held(path?: string): Tree & Disposable {
    if (path !== undefined) return this.#of(path).held();
    return new TreeWithAdded(this.#own.held(), this.#added.map(heldIfThere));
  }

  [Symbol.dispose](): void {
    for (const tree of [this.#own, ...this.#added]) tree[Symbol.dispose]?.();
  }

  look(path: string): Facts | null {
    return this.#of(path).look(path);
  }

  lookUnlinked(path: string): Facts | null {
    return this.#of(path).lookUnlinked(path);
  }

  open(path: string): OpenFile {
    return this.#of(path).open(path);
  }

  entries(path: string): readonly FolderEntry[] {
    return this.#of(path).entries(path);
  }

  readLink(path: string): string {
    return this.#of(path).readLink(path);
  }

  stamps(...of: Parameters<Tree["stamps"]>): void {
    this.#own.stamps(...of);
  }

  folder(...of: Parameters<Tree["folder"]>): OpenFolder {
    return this.#of(of[0]).folder(...of);
  }

  #of(path: string): Tree {
    return this.#added.find(({ top = "" }) => isAtOrBelow(path, top)) ?? this.#own;
  }
}

function heldIfThere(tree: Tree): Tree {
  try {
    return tree.held();
  } catch {
    return tree;
  }
}

export function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

export function fromTop({ below, top }: Pick<Tree, "below" | "top">, path: string): string {
  if (top !== undefined && isAtOrBelow(path, top)) return path.slice(top.length + 1) || ".";
  if (posix.isAbsolute(path)) throw new Deno.errors.FilesystemLoop(`${path} leads elsewhere`);
  if (!path.startsWith("..")) return below === "" ? path : path === "." || path === "" ? below : `${below}/${path}`;
  const whole = posix.join(below, path);
  if (whole === ".." || whole.startsWith("../")) throw new Deno.errors.FilesystemLoop(`${path} leads elsewhere`);
  return whole;
}
