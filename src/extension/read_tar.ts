import { messageOf } from "../domain/errors.ts";
import { readBounded } from "../domain/kit/bytes.ts";

const BLOCK = 512;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 2_000;
const FILE = ["0", "\0", ""];
/** The reader skips these types: folders, and headers that only describe later entries. */
const LEFT_OUT = ["5", "g", "x"];

/** Strips a folder that contains all files. */
export async function readTar(
  bytes: Uint8Array<ArrayBuffer>,
  { name, maxBytes = MAX_BYTES }: { readonly name: string; readonly maxBytes?: number },
): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    return await filesOf(bytes, maxBytes);
  } catch (error) {
    throw error instanceof Refused ? new Error(`Cannot unpack ${name}: ${messageOf(error)}`) : error;
  }
}

class Refused extends Error {}

async function filesOf(
  bytes: Uint8Array<ArrayBuffer>,
  maxBytes: number,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? await unzipped(bytes, maxBytes) : bytes;
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + BLOCK <= plain.length;) {
    const header = plain.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = parseInt(textOf(header, 124, 12).trim() || "0", 8);
    if (!Number.isSafeInteger(size) || size < 0) throw new Refused("it is not a tar archive, or it is damaged");
    const type = textOf(header, 156, 1);
    const prefix = textOf(header, 257, 5) === "ustar" ? textOf(header, 345, 155) : "";
    const path = prefix === "" ? textOf(header, 0, 100) : `${prefix}/${textOf(header, 0, 100)}`;
    if (at + BLOCK + size > plain.length) throw new Refused(`it ends before the end of ${path}`);
    if (FILE.includes(type)) files.set(safePath(path), plain.slice(at + BLOCK, at + BLOCK + size));
    else if (!LEFT_OUT.includes(type)) throw new Refused(`${path} is neither a file nor a folder (tar type ${type})`);
    if (files.size > MAX_FILES) throw new Refused(`it has more than ${MAX_FILES} files, the limit`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (files.size === 0) throw new Refused("it is not a tar archive, or it has no files");
  return unwrapped(files);
}

function safePath(path: string): string {
  const parts = path.replace(/^\.\//, "").split("/");
  if (parts.some((part) => ["", ".", ".."].includes(part)) || /[\\:\0]/.test(path)) {
    throw new Refused(`its path ${JSON.stringify(path)} is not a plain relative path`);
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
  try {
    return await readBounded(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), {
      maxBytes,
      tooLarge: () => new Refused(`its content is larger than ${maxBytes / 1024 / 1024} MiB, the limit`),
    });
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("its gzip data is damaged");
  }
}

function textOf(header: Uint8Array, start: number, length: number): string {
  return new TextDecoder().decode(header.subarray(start, start + length)).replace(/\0.*$/s, "");
}
