import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Attached } from "./part_files.ts";

const MAGIC = "d3n0l4nd";

export interface AttachedFiles {
  readonly place: Attached;
  readonly bytes: Uint8Array;
}

/** The id lets a program recognize that another executable has replaced its own. */
export function joinedFiles(files: ReadonlyMap<string, Uint8Array>): AttachedFiles {
  const names = [...files.keys()].sort();
  const hash = createHash("sha256");
  for (const name of names) hash.update(name).update(files.get(name)!);
  const id = hash.digest("hex").slice(0, 16);
  const parts = [new TextEncoder().encode(id)];
  const places: Record<string, readonly [number, number]> = {};
  let at = id.length;
  for (const name of names) {
    const part = files.get(name)!;
    places[name] = [at, part.length];
    parts.push(new Uint8Array(part));
    at += part.length;
  }
  return { place: { id, bytes: at, files: places }, bytes: Buffer.concat(parts) };
}

export async function attachFiles(executable: string, { bytes }: AttachedFiles): Promise<void> {
  const content = await Deno.readFile(executable);
  const length = Number(new DataView(content.buffer).getBigUint64(content.length - 8, true));
  const begin = content.length - length;
  if (new TextDecoder().decode(content.subarray(begin, begin + MAGIC.length)) !== MAGIC) {
    throw new Error(`Cannot attach files to ${executable}: the data of its runtime is not at its end`);
  }
  const joined = Buffer.concat([content.subarray(0, begin), bytes, content.subarray(begin)]);
  await Deno.writeFile(executable, joined);
}
