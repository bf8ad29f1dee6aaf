import { readBounded } from "../domain/kit/bytes.ts";

const BLOCK = 512;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 2_000;
const FILE = ["0", "\0", ""];
/** Folders, and headers that only describe the next entry, are skipped. */
const LEFT_OUT = ["5", "g", "x"];

/** Reads the files of a tar archive, gzipped or not, and strips a folder that contains all of them. Rejects for links,
 * special files, paths outside the archive, and archives above a limit. */
export async function readTar(
  bytes: Uint8Array<ArrayBuffer>,
  { maxBytes = MAX_BYTES } = {},
): Promise<ReadonlyMap<string, Uint8Array>> {
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? await unzipped(bytes, maxBytes) : bytes;
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + BLOCK <= plain.length;) {
    const header = plain.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = parseInt(textOf(header, 124, 12).trim() || "0", 8);
    if (!Number.isSafeInteger(size) || size < 0 || at + BLOCK + size > plain.length) {
      throw refused("the archive ended early");
    }
    const type = textOf(header, 156, 1);
    const prefix = textOf(header, 257, 5) === "ustar" ? textOf(header, 345, 155) : "";
    const path = prefix === "" ? textOf(header, 0, 100) : `${prefix}/${textOf(header, 0, 100)}`;
    if (FILE.includes(type)) files.set(safePath(path), plain.slice(at + BLOCK, at + BLOCK + size));
    else if (!LEFT_OUT.includes(type)) throw refused(`${path} is neither a file nor a folder`);
    if (files.size > MAX_FILES) throw refused(`the archive has more than ${MAX_FILES} files, the limit`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (files.size === 0) throw refused("the file is not a tar archive, or it is empty");
  return unwrapped(files);
}

function safePath(path: string): string {
  const parts = path.replace(/^\.\//, "").split("/");
  if (parts.some((part) => ["", ".", ".."].includes(part)) || /[\\:\0]/.test(path)) {
    throw refused(`${JSON.stringify(path)} is not a path inside the archive`);
  }
  return parts.join("/");
}

function unwrapped(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  if (files.has("vis.json")) return files;
  const [top = ""] = [...files.keys()][0]?.split("/") ?? [];
  if (![...files.keys()].every((path) => path.startsWith(`${top}/`))) return files;
  return new Map([...files].map(([path, bytes]) => [path.slice(top.length + 1), bytes]));
}

async function unzipped(bytes: Uint8Array<ArrayBuffer>, maxBytes: number): Promise<Uint8Array> {
  return await readBounded(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), {
    maxBytes,
    tooLarge: () => refused(`its content is larger than ${maxBytes / 1024 / 1024} MiB, the limit`),
  });
}

function textOf(header: Uint8Array, start: number, length: number): string {
  return new TextDecoder().decode(header.subarray(start, start + length)).replace(/\0.*$/s, "");
}

function refused(why: string): Error {
  return new Error(`Cannot unpack the archive: ${why}`);
}
