import { confine } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { missing } from "../workspace/missing.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { sizeAt, walk, type WalkEntry } from "../walk/walk.ts";

export interface ListFilesOptions {
  /** Levels to descend; 1 is the folder's own entries. */
  readonly depth?: number | undefined;
  /** Includes ignored files. */
  readonly all?: boolean | undefined;
}

export interface ListedFile extends Pick<WalkEntry, "path" | "type"> {
  /** In bytes; files only. */
  readonly size?: number;
}

const DEPTH = 2;
const MAX_ENTRIES = 10_000;

/** The contents of a folder, as a flat list in tree order. */
export async function listFiles(
  context: FsContext,
  folder = ".",
  options: ListFilesOptions = {},
): Promise<ListedFile[]> {
  const place = confine(context, folder);
  if (place.info === null) throw await missing(context, { action: "list", path: place.path });
  if (place.info.kind !== "dir") throw new Error(`Cannot list ${place.path}: it is a file; fs.readFile reads it`);
  const depth = options.depth ?? DEPTH;
  const pace = new Pace(context.signal);
  const listed: ListedFile[] = [];
  for (
    const entry of walk({ tree: context.tree, start: place.real, named: place.path, all: options.all ?? false, depth })
  ) {
    if (pace.due) await pace.rest();
    if (entry === null) continue;
    if (listed.length === MAX_ENTRIES) {
      throw new RangeError(`Cannot list ${place.path} at depth ${depth}: over ${MAX_ENTRIES} entries; use less depth`);
    }
    const { path, real, type } = entry;
    listed.push(type === "file" ? { path, type, size: sizeAt(context.tree, real) } : { path, type });
  }
  return listed;
}
