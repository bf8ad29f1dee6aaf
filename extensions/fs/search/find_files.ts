import { confine, type Workspace } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { walk } from "../walk/walk.ts";

export interface FindOptions {
  /** Returns at most this many. If absent, exceeding the default cap is an error. */
  readonly limit?: number | undefined;
  /** Includes ignored files. */
  readonly all?: boolean | undefined;
}

const MAX_FILES = 10_000;

/** Paths of files that match any of the patterns, sorted by folder. */
export async function findFiles(
  context: FsContext,
  patterns: string | readonly string[],
  options: FindOptions = {},
): Promise<string[]> {
  const list = withFolders(context, typeof patterns === "string" ? [patterns] : patterns);
  const matcher = new GlobMatcher(list);
  const start = confine(context, matcher.start);
  if (start.info?.kind !== "dir") return [];
  const pace = new Pace(context.signal);
  const found: string[] = [];
  const most = options.limit ?? MAX_FILES;
  for (
    const entry of walk({
      tree: context.tree,
      start: start.real,
      named: start.path,
      all: options.all ?? false,
      depth: matcher.depth,
    })
  ) {
    if (pace.due) await pace.rest();
    if (entry === null) continue;
    if (entry.type !== "file" || !matcher.matches(entry.path)) continue;
    if (found.length < most) found.push(entry.path);
    else if (options.limit !== undefined) break;
    else {throw new RangeError(
        `Cannot list ${list.join(", ")}: over ${MAX_FILES} files match; narrow it or set {limit}`,
      );}
  }
  return found;
}

/** Patterns in which one that is the path of a folder matches everything below the folder. */
export function withFolders(workspace: Workspace, patterns: readonly string[]): string[] {
  return patterns.map((one) => {
    const [not, path] = one.startsWith("!") ? ["!", one.slice(1)] : ["", one];
    if (path.includes("**") || path === "") return one;
    try {
      const place = confine(workspace, path);
      if (place.info?.kind !== "dir" || /[{}]/.test(place.path)) return one;
      return `${not}${place.path === "." ? "" : `${place.path.replace(/[\\*?[\]{}!]/g, "\\$&")}/`}**`;
    } catch {
      return one; // it is a pattern only, or leads out of the workspace, which the matcher refuses
    }
  });
}
