import { join } from "node:path";
import { confine } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { missing } from "./missing.ts";
import { Pace } from "./pace.ts";
import { walk, type WalkEntry } from "./walk.ts";

export interface ListOptions {
  /** Levels to descend; 1 is the folder's own entries. */
  readonly depth?: number | undefined;
  /** Ignored files too. */
  readonly all?: boolean | undefined;
}

export interface Listed extends WalkEntry {
  /** In bytes; files only. */
  readonly size?: number;
}

const DEPTH = 2;
const MAX_ENTRIES = 10_000;

/** What is in a folder, flat and in tree order. */
export async function listFiles(context: FsContext, folder = ".", options: ListOptions = {}): Promise<Listed[]> {
  const place = await confine(context.root, folder);
  if (place.info === null) throw await missing(context, { action: "list", path: place.path });
  if (!place.info.isDirectory) throw new Error(`Cannot list ${place.path}: it is a file; fs.readFile reads it`);
  const depth = options.depth ?? DEPTH;
  const pace = new Pace(context.signal);
  const listed: Listed[] = [];
  for (const entry of walk({ root: context.root, start: place.path, all: options.all ?? false, depth })) {
    if (pace.due) await pace.rest();
    if (listed.length === MAX_ENTRIES) {
      throw new RangeError(`Cannot list ${place.path} at depth ${depth}: over ${MAX_ENTRIES} entries; use less depth`);
    }
    listed.push(entry.type === "file" ? { ...entry, size: sizeOf(join(context.root, entry.path)) } : entry);
  }
  return listed;
}

function sizeOf(path: string): number {
  try {
    return Deno.lstatSync(path).size;
  } catch {
    return 0;
  }
}
