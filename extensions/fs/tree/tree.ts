/** Facts of an entry itself: a link is not followed. */
export interface Facts {
  readonly kind: "file" | "dir" | "link" | "other";
  readonly size: number;
  /** Epoch milliseconds. */
  readonly modified: number;
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** The same for as long as the entry exists, whatever it is called. */
  readonly id: string;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: Facts["kind"];
}

/** A regular file, open for reading. */
export interface OpenFile extends Disposable {
  readonly facts: Facts;
  /** How many bytes were read; 0 at the end. */
  read(into: Uint8Array<ArrayBuffer>): number;
}

export interface NewFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Permission bits; those of a new file where null. */
  readonly mode: number | null;
  /** Whose it should be, where that is allowed. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
}

/** A folder that stays the same one, whatever happens to its name. Names are single ones; no link is followed. */
export interface OpenFolder extends Disposable {
  readonly facts: Facts;
  look(name: string): Facts | null;
  readLink(name: string): string;
  /** Throws `AlreadyExists` where the name is taken. The bytes are on the disk afterwards. */
  create(name: string, file: NewFile): Promise<void>;
  makeLink(name: string, target: string): void;
  makeFolder(name: string, mode?: number): void;
  /** Over what is there, unless `keep`: then it throws `AlreadyExists`. */
  rename(name: string, to: { readonly folder: OpenFolder; readonly name: string; readonly keep?: boolean }): void;
  remove(name: string): void;
  /** An empty one. */
  removeFolder(name: string): void;
}

/** The only way to the files of a workspace. Paths are relative to it, "." for itself, with no `..` and no link in any
 * part: one that has become a link meanwhile throws `FilesystemLoop`. Everything throws the classes of `Deno.errors`. */
export interface Tree {
  /** Null where nothing is there. */
  look(path: string): Facts | null;
  open(path: string): OpenFile;
  /** In no order. */
  entries(path: string): readonly FolderEntry[];
  readLink(path: string): string;
  /** `visit` is shown every folder from below the root down to this one, and may throw. */
  folder(path: string, options: OpenFolderOptions): OpenFolder;
}

export interface OpenFolderOptions {
  /** Makes the folders that are missing, and is told their paths. */
  readonly made?: (path: string) => void;
  readonly visit: (folder: OpenFolder) => void;
}
