import { fileFault, messageOf } from "../../domain/errors.ts";
import { firstEntries } from "../../domain/kit/files.ts";
import { type ManifestEntry, readManifest } from "./manifest.ts";
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Snapshot of an extension's folder, so that the bytes that are loaded are the bytes that were hashed. */
export interface ExtensionFolder {
  readonly path: string;
  /** Path in the folder, with forward slashes, to content; sorted. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** SHA-256 over paths and bytes of all files. */
  readonly hash: string;
  readonly entries: readonly ManifestEntry[];
}

const MAX_FILES = 2_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 16;
/** Version control changes this folder on its own; nothing in it is loaded. */
const LEFT_OUT = ".git";

/** Reads a whole folder. Throws Error if it is too large, contains a link or a special file, or has no valid manifest. */
export async function readExtensionFolder(path: string): Promise<ExtensionFolder> {
  const info = await Deno.lstat(path).catch((error: unknown) => error);
  if (info instanceof Error) throw refused(path, fileFault(info));
  if (!(await Deno.lstat(path)).isDirectory) throw refused(path, "it is not a folder");
  const reader = new FolderReader(path);
  await reader.read("", 0);
  return extensionOfFiles(path, reader.files);
}

/** Does the same for files that are already in memory; `path` is for messages. */
export function extensionOfFiles(path: string, unsorted: ReadonlyMap<string, Uint8Array>): ExtensionFolder {
  const files = new Map([...unsorted].sort(([a], [b]) => a < b ? -1 : 1));
  const manifest = files.get("vis.json");
  if (!manifest) throw refused(path, "it has no vis.json");
  const entries = entriesOf(path, manifest);
  const absent = entries.find(({ entry }) => !files.has(entry));
  if (absent) throw refused(path, `vis.json names ${absent.entry}, which does not exist`);
  return { path, files, hash: hashOf(files), entries };
}

function entriesOf(path: string, manifest: Uint8Array): readonly ManifestEntry[] {
  try {
    return readManifest(new TextDecoder("utf-8", { fatal: true }).decode(manifest));
  } catch (error) {
    throw refused(path, messageOf(error));
  }
}

function refused(path: string, why: string): Error {
  return new Error(`Cannot use extension folder ${path}: ${why}`);
}

class FolderReader {
  readonly files = new Map<string, Uint8Array>();
  readonly #root: string;
  #bytes = 0;
  #names = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async read(folder: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw refused(this.#root, `it is nested deeper than ${MAX_DEPTH} folders`);
    const { entries, hasMore } = await firstEntries(join(this.#root, folder), { most: MAX_FILES });
    this.#names += entries.length;
    if (hasMore || this.#names > MAX_FILES) {
      throw refused(this.#root, `it has more than ${MAX_FILES} files and folders`);
    }
    for (const { name } of entries) {
      if (name === LEFT_OUT) continue;
      const inside = folder === "" ? name : `${folder}/${name}`;
      const info = await Deno.lstat(join(this.#root, inside));
      if (info.isDirectory) await this.read(inside, depth + 1);
      else if (info.isFile) await this.#take(inside, info.size);
      else throw refused(this.#root, `${inside} is ${info.isSymlink ? "a link" : "not a plain file"}`);
    }
  }

  async #take(inside: string, size: number): Promise<void> {
    this.#bytes += size;
    if (this.#bytes > MAX_BYTES) throw refused(this.#root, `it has more than ${MAX_BYTES / 1024 / 1024} MiB`);
    this.files.set(inside, await Deno.readFile(join(this.#root, inside)));
  }
}

/** Each path and content is preceded by its length, so that no two folders produce the same bytes. */
function hashOf(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash("sha256");
  for (const [path, bytes] of files) {
    const name = new TextEncoder().encode(path);
    hash.update(`${name.length}:`).update(name).update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}
