import { confine } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";

export interface PathStat {
  readonly path: string;
  readonly type: "file" | "dir" | "other";
  readonly size: number;
  /** ISO 8601. */
  readonly modified: string;
}

/** Facts about a path, following links; null if nothing is there. */
export function statPath(context: FsContext, path: string): PathStat | null {
  const place = confine(context, path);
  if (place.info === null) return null;
  const { kind, size, modified } = place.info;
  return {
    path: place.path,
    type: kind === "link" ? "other" : kind,
    size,
    modified: new Date(modified).toISOString(),
  };
}
