import { gzipSync } from "fflate";
import { createTar } from "nanotar";

/** Two blocks of zeros end an archive; nanotar fills up to a whole record, which may leave room for one or none. */
const END_OF_TAR = 1024;

export interface TarEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** A gzip-compressed archive: the same entries and time produce the same bytes. */
export function tarOf(entries: readonly TarEntry[], mtime: number): Uint8Array {
  const files = entries.map(({ name, bytes: data, executable }) => {
    return { name, data, attrs: { mode: executable ? "755" : "644" } };
  });
  const tar = createTar(files, { attrs: { mtime, uid: 0, gid: 0 } });
  const ended = new Uint8Array(tar.length + END_OF_TAR);
  ended.set(tar);
  return gzipSync(ended, { mtime: 0 });
}
