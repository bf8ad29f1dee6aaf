import { confine } from "./confine.ts";
import type { FsContext } from "./context.ts";

export interface PathStat {
  readonly path: string;
  readonly type: "file" | "dir" | "other";
  readonly size: number;
  /** ISO 8601. */
  readonly modified: string;
}

/** Facts about a path, links followed; null where nothing is there. */
export async function statPath(context: FsContext, path: string): Promise<PathStat | null> {
  const place = await confine(context.root, path);
  if (place.info === null) return null;
  const { isFile, isDirectory, size, mtime } = place.info;
  return {
    path: place.path,
    type: isFile ? "file" : isDirectory ? "dir" : "other",
    size,
    modified: (mtime ?? new Date(0)).toISOString(),
  };
}
