/** Facts about an entry itself: a link is not followed. */
export interface Facts {
  readonly kind: "file" | "dir" | "link" | "other";
  readonly size: number;
  /** Epoch milliseconds. */
  readonly modified: number;
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** How many names it has. */
  readonly names: number;
  /** Whether something is mounted there. */
  readonly isMount: boolean;
  /** Constant as long as the entry exists, even if it is renamed. */
  readonly id: string;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: Facts["kind"];
}

/** Most names of one folder that are listed: more would take the memory of the process. */
export const MAX_NAMES = 100_000;

/** A folder has more than `MAX_NAMES` names. */
export class FolderTooLarge extends RangeError {
  override readonly name = "FolderTooLarge";

  constructor(folder: string) {
    super(
      `Cannot list ${folder}: it has over ${MAX_NAMES} names, the limit; name files in it, or put it into .gitignore`,
    );
  }
}

/** A regular file, open for reading. */
export interface OpenFile extends Disposable {
  readonly facts: Facts;
  /** How many bytes were read; 0 at the end. */
  read(into: Uint8Array<ArrayBuffer>): number;
  /** Goes on from this byte of the file. */
  seek(to: number): void;
  /** Undefined if it has none that a new file could be given. */
  attributes(): Attributes | undefined;
}

/** Extended attributes of a file, of which an access list is one: values in Base64 by name. */
export type Attributes = Readonly<Record<string, string>>;

export interface NewFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Permission bits; null for the default of a new file. */
  readonly mode: number | null;
  /** The owner to set, if permitted. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** To set, as far as that is permitted. */
  readonly attributes?: Attributes | undefined;
}

/** An open folder, which stays the same even if its name changes. Names are single path components; links are not
 * followed. */
export interface OpenFolder extends Disposable {
  readonly facts: Facts;
  look(name: string): Facts | null;
  /** Throws `AlreadyExists` if the name is taken. When it resolves, the bytes are on the disk. */
  create(name: string, file: NewFile): Promise<void>;
  /** Whether a file must be written in place: a new one in its place would lose names, an owner, an access list, extended
   * attributes or a mount, or cannot be made in this folder. */
  staysInPlace(name: string): boolean;
  /** Writes a file over the bytes of an existing one. An error or a kill may leave a part of both. When it resolves, the
   * bytes are on the disk. */
  overwrite(name: string, file: Pick<NewFile, "bytes" | "mode">): Promise<void>;
  makeLink(name: string, target: string): void;
  makeFolder(name: string, mode?: number): void;
  /** Replaces an existing entry; with `keep`, it throws `AlreadyExists` instead. */
  rename(name: string, to: { readonly folder: OpenFolder; readonly name: string; readonly keep?: boolean }): void;
  remove(name: string): void;
  /** Removes an empty folder. */
  removeFolder(name: string): void;
}

/** The only access to the files of a workspace. Bytes of a name that are not UTF-8 are written as `name_text.ts` says.
 * Paths are relative to it ("." for itself), without `..` and without
 * links in any part: a path that has become a link in the meantime throws `FilesystemLoop`. All errors are classes of
 * `Deno.errors`. */
export interface Tree {
  /** Null if nothing is there. */
  look(path: string): Facts | null;
  /** The same for a path that may lead over links. Null unless it is known that none does, the last part included, and
   * that the entry has no other path. Never throws. */
  lookUnlinked(path: string): Facts | null;
  open(path: string): OpenFile;
  /** Unsorted. Throws `FolderTooLarge` for a folder with more than can be listed. */
  entries(path: string): readonly FolderEntry[];
  readLink(path: string): string;
  /** `visit` is called with every folder from below the root down to this one, and may throw. */
  folder(path: string, visit: (folder: OpenFolder) => void): OpenFolder;
  /** The same files for many calls: the root stays open, so that each of them need not open it. */
  held(): Tree & Disposable;
}
