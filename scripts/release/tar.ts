import { gzipSync } from "fflate";
import { createTar } from "nanotar";

/** Two blocks of zeros end an archive, but the padding of nanotar may have only one block or none. */
const END_OF_TAR = 1024;

export interface TarEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

export interface ArchiveOptions {
  /** Milliseconds since the epoch. The same input and time produce the same archive. */
  readonly modifiedAt: number;
  readonly stored?: boolean;
}

export interface TarFolder {
  readonly name: string;
  readonly mode: string;
  readonly owner: number;
}

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

export function tarOf(entries: readonly TarEntry[], options: ArchiveOptions): Uint8Array {
  return gzipped(plainTar(entries, options.modifiedAt), options);
}

export function gzipped(bytes: Uint8Array, { stored = false }: Pick<ArchiveOptions, "stored">): Uint8Array {
  return gzipSync(bytes, { mtime: 0, level: stored ? 0 : 6 });
}
