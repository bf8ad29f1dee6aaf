import { gzipSync } from "fflate";
import { createTar } from "nanotar";

/** Two blocks of zeros end an archive; nanotar fills up to a whole record, which may leave room for one or none. */
const END_OF_TAR = 1024;

export interface TarEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

export interface ArchiveOptions {
  /** Modification time of every entry, in milliseconds since the epoch: the same input produces the same archive. */
  readonly modifiedAt: number;
  /** Whether archives are written without compression, which takes a tenth of the time. */
  readonly stored?: boolean;
}

export interface TarFolder {
  readonly name: string;
  /** In octal, such as "755". */
  readonly mode: string;
  /** Number of its user and group. */
  readonly owner: number;
}

/** An archive: the same entries and time produce the same bytes. */
export function plainTar(entries: readonly (TarEntry | TarFolder)[], mtime: number): Uint8Array {
  const files = entries.map((entry) => {
    if ("mode" in entry) {
      return { name: `${entry.name}/`, attrs: { mode: entry.mode, uid: entry.owner, gid: entry.owner } };
    }
    return { name: entry.name, data: entry.bytes, attrs: { mode: entry.executable ? "755" : "644" } };
  });
  const tar = createTar(files, { attrs: { mtime, uid: 0, gid: 0 } });
  const ended = new Uint8Array(tar.length + END_OF_TAR);
  ended.set(tar);
  return ended;
}

/** The same in the format of gzip. */
export function tarOf(entries: readonly TarEntry[], options: ArchiveOptions): Uint8Array {
  return gzipped(plainTar(entries, options.modifiedAt), options);
}

/** In the format of gzip; the same bytes whenever it is made. */
export function gzipped(bytes: Uint8Array, { stored = false }: Pick<ArchiveOptions, "stored">): Uint8Array {
  return gzipSync(bytes, { mtime: 0, level: stored ? 0 : 6 });
}
