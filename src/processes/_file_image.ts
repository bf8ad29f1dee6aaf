import { join } from "node:path";
import { folderNames, removeTree } from "./folders.ts";

/** A file, folder or link as it was; null if nothing exists. */
export type FileImage =
  | { readonly kind: "file"; readonly mode: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "folder"; readonly mode: number; readonly entries: ReadonlyMap<string, FileImage> }
  | { readonly kind: "link"; readonly target: string }
  | null;

/** The capacity of an image; both are counted down over several images. */
export interface ImageRoom {
  files: number;
  bytes: number;
}

/** Reads a tree. Links are read, not followed; anything that is not a file, folder or link counts as absent. Throws
 * RangeError if the tree exceeds the room. */
export async function readFileImage(path: string, room: ImageRoom): Promise<FileImage> {
  const info = await Deno.lstat(path).catch(() => null);
  if (!info) return null;
  if (info.isSymlink) return { kind: "link", target: await Deno.readLink(path) };
  const mode = (info.mode ?? 0o600) & 0o7777;
  if (--room.files < 0 || (info.isFile && (room.bytes -= info.size) < 0)) {
    throw new RangeError(`Cannot keep ${path}: it is too large to be put back after a command`);
  }
  if (info.isFile) return { kind: "file", mode, bytes: await Deno.readFile(path) };
  if (!info.isDirectory) return null;
  const entries = new Map<string, FileImage>();
  for (const name of await folderNames(path, Math.max(room.files, 0))) {
    entries.set(name, await readFileImage(join(path, name), room));
  }
  return { kind: "folder", mode, entries };
}

/** Restores a path from an image. No confined program may run meanwhile, since links along the path would be
 * followed. */
export async function writeImage(path: string, image: FileImage): Promise<void> {
  await removeTree(path);
  if (image === null) return;
  if (image.kind === "link") return await Deno.symlink(image.target, path);
  if (image.kind === "file") {
    await Deno.writeFile(path, image.bytes, { createNew: true });
  } else {
    await Deno.mkdir(path);
    for (const [name, entry] of image.entries) await writeImage(join(path, name), entry);
  }
  await Deno.chmod(path, image.mode);
}

export function sameImage(a: FileImage, b: FileImage): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === "link") return b.kind === "link" && a.target === b.target;
  if (a.kind === "file") {
    return b.kind === "file" && a.mode === b.mode && a.bytes.length === b.bytes.length &&
      a.bytes.every((byte, at) => byte === b.bytes[at]);
  }
  if (b.kind !== "folder" || a.mode !== b.mode || a.entries.size !== b.entries.size) return false;
  return [...a.entries].every(([name, entry]) => b.entries.has(name) && sameImage(entry, b.entries.get(name) ?? null));
}
