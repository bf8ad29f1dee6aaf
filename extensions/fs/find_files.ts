import { addedFolderOf, below, confine, type Workspace, type WorkspacePath } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { FolderTooLarge } from "./tree/tree.ts";
import { GlobMatcher } from "./walk/glob_matcher.ts";
import { plainPath, rulesAbove, sizeAt, walk, type WalkEntry } from "./walk/walk.ts";
import { advised, editDistance, isWithin, Pace, someOf } from "@vis/extension";
import { dirname, join, resolve } from "node:path";

export interface FindOptions {
  readonly limit?: number | undefined;
  readonly all?: boolean | undefined;
}

const MAX_FILES = 10_000;
const MAX_NAMED = 5;

export async function findFiles(
  context: FsContext,
  patterns: string | readonly string[],
  options: FindOptions = {},
): Promise<string[]> {
  const list = withFolders(context, typeof patterns === "string" ? [patterns] : patterns);
  const pace = new Pace(context.signal);
  const found: string[] = [];
  const most = options.limit ?? MAX_FILES;
  for (const { folder, patterns } of byFolder(context, list)) {
    const matcher = new GlobMatcher(patterns, folder === "" ? context.tree : undefined);
    const start = confine(context, folder === "" ? matcher.start : join(folder, matcher.start));
    if (start.info?.kind !== "dir") continue;
    const named = matcher.bases.map((base) => join(folder, base));
    for (const entry of walkWith(context, start, { named, all: options.all ?? false, depth: matcher.depth })) {
      if (pace.due) await pace.rest();
      if (entry === null) continue;
      if (entry.type !== "file" || !matcher.matches(below(folder, entry.path))) continue;
      if (found.length < most) found.push(plainPath(context.tree, entry.path));
      else if (options.limit !== undefined) return found;
      else throw tooManyFound(list);
    }
  }
  return found;
}

export function* walkWith(
  workspace: Workspace,
  start: WorkspacePath,
  { named, all, depth }: { readonly named: readonly string[]; readonly all: boolean; readonly depth: number },
): Generator<WalkEntry | null> {
  for (const { real, path } of [start, ...all ? [] : ignoredFolders(workspace, start, named)]) {
    yield* walk({ tree: workspace.tree, start: real, named: path, all, depth });
  }
}

function ignoredFolders(
  workspace: Workspace,
  start: WorkspacePath,
  named: readonly string[],
): readonly WorkspacePath[] {
  const { root } = workspace;
  using tree = workspace.tree.held(start.real);
  if (named.length === 0 || rulesAbove(tree, start.real) === null) return [];
  const ignored = new Map(
    named.map((path) => confine(workspace, path))
      .filter(({ real, info }) => info?.kind === "dir" && isWithin(resolve(root, real), resolve(root, start.real)))
      .filter(({ real }) => rulesAbove(tree, real) === null)
      .map((place) => [place.real, place]),
  );
  const places = [...ignored.values()];
  return places.filter(({ real }) => !places.some((one) => real.startsWith(`${one.real}/`)));
}

interface FolderPatterns {
  /** The folder "" means the workspace; other folders are added folders. */
  readonly folder: string;
  readonly patterns: readonly string[];
}

/** A pattern that begins with `!` counts in each folder, unless the pattern leads into an added folder. */
export function byFolder(workspace: Workspace, patterns: readonly string[]): readonly FolderPatterns[] {
  const { readFolders = [] } = workspace;
  if (readFolders.length === 0) return [{ folder: "", patterns }];
  const placed = patterns.map((one) => {
    const [not, pattern] = one.startsWith("!") ? ["!", one.slice(1)] : ["", one];
    const real = realPattern(workspace, pattern), folder = addedFolderOf(workspace, real);
    return { not, folder, pattern: folder === "" ? pattern : below(folder, real) || "**" };
  });
  const folders = new Set(placed.flatMap(({ not, folder }) => not === "" ? [folder] : []));
  return [...folders.size === 0 ? [""] : folders].map((folder) => ({
    folder,
    patterns: placed.filter((one) => one.folder === folder || one.not !== "" && one.folder === "")
      .map(({ not, pattern }) => not + pattern),
  }));
}

function realPattern(workspace: Workspace, pattern: string): string {
  if (!/^(?:\.\.\/|\/|[A-Za-z]:)/.test(pattern)) return pattern;
  const parts = pattern.split("/"), first = parts.findIndex((part) => GlobMatcher.isPattern(part));
  const cut = first < 0 ? parts.length - 1 : first;
  try {
    const { real } = confine(workspace, parts.slice(0, cut).join("/") || "/");
    return [real, ...parts.slice(cut)].join("/");
  } catch {
    return pattern;
  }
}

function tooManyFound(patterns: readonly string[]): RangeError {
  return advised(
    new RangeError(`Cannot list ${someOf(patterns, MAX_NAMED)}: more files match than the limit of ${MAX_FILES}`),
    "narrow the pattern, or pass {limit} to fs.glob",
  );
}

export function withFolders(workspace: Workspace, patterns: readonly string[]): string[] {
  return patterns.map((one) => {
    const [not, path] = one.startsWith("!") ? ["!", one.slice(1)] : ["", one];
    if (path.includes("**") || path === "") return one;
    try {
      const place = confine(workspace, path);
      if (place.info?.kind !== "dir" || /[{}]/.test(place.path)) return one;
      return `${not}${place.path === "." ? "" : `${place.path.replace(/[\\*?[\]{}!]/g, "\\$&")}/`}**`;
    } catch {
      return one;
    }
  });
}

export interface ListFilesOptions {
  readonly depth?: number | undefined;
  readonly all?: boolean | undefined;
}

interface ListedFile extends Pick<WalkEntry, "path" | "type"> {
  readonly size?: number;
}

const DEPTH = 2;
const MAX_ENTRIES = 10_000;

export async function listFiles(
  context: FsContext,
  folder = ".",
  options: ListFilesOptions = {},
): Promise<ListedFile[]> {
  const place = confine(context, folder);
  if (place.info === null) throw await missing(context, { action: "list", path: place.path });
  if (place.info.kind !== "dir") {
    throw advised(new Error(`Cannot list ${place.path}: it is not a folder`), "fs.readFile reads files");
  }
  const depth = options.depth ?? DEPTH;
  const pace = new Pace(context.signal);
  const listed: ListedFile[] = [];
  for (
    const entry of walk({ tree: context.tree, start: place.real, named: place.path, all: options.all ?? false, depth })
  ) {
    if (pace.due) await pace.rest();
    if (entry === null) continue;
    if (listed.length === MAX_ENTRIES) {
      throw advised(
        new RangeError(
          `Cannot list ${place.path} at depth ${depth}: it has more than ${MAX_ENTRIES} entries, the limit`,
        ),
        "use a smaller depth, or fs.glob with {limit}",
      );
    }
    const { real, type } = entry, path = plainPath(context.tree, entry.path) || ".";
    listed.push(type === "file" ? { path, type, size: sizeAt(context.tree, real) } : { path, type });
  }
  return listed;
}

interface PathStat {
  readonly path: string;
  readonly type: "file" | "dir" | "other";
  readonly size: number;
  readonly modified: string;
}

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

const MAX_CANDIDATES = 3_000;

export async function missing(
  context: FsContext,
  { action, path }: { readonly action: string; readonly path: string },
): Promise<Error> {
  const base = `Cannot ${action} ${path}: there is no such file or folder`;
  const added = addedFolderOf(context, path);
  if (added !== "" && context.tree.look(added) === null) return new Error(`${base}; the folder ${added} is gone`);
  const near = await nearest(context, path).catch((error: unknown) => {
    if (error instanceof FolderTooLarge) return [];
    throw error;
  });
  if (near.length > 0) return new Error(`${base}; did you mean ${near.join(" or ")}`);
  let folder = dirname(path);
  while (folder !== "." && confine(context, folder).info?.kind !== "dir") folder = dirname(folder);
  return new Error(`${base}; the nearest existing folder is ${folder === "." ? "the workspace" : folder}`);
}

async function nearest(context: FsContext, path: string): Promise<string[]> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const parent = dirname(path);
  const scored: { readonly path: string; readonly score: number }[] = [];
  const pace = new Pace(context.signal);
  let seen = 0;
  for (const entry of walk({ tree: context.tree, start: addedFolderOf(context, path) || ".", all: false, depth: 12 })) {
    if (++seen > MAX_CANDIDATES) break;
    if (pace.due) await pace.rest();
    if (entry === null) continue;
    const other = entry.path.slice(entry.path.lastIndexOf("/") + 1);
    const sibling = dirname(entry.path) === parent;
    const most = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
    const isFar = Math.abs(other.length - name.length) > most;
    const away = isFar ? Infinity : editDistance(other, name);
    const score = other.toLowerCase() === name.toLowerCase() ? (sibling ? 0 : 0.5) : away;
    if (score <= (sibling ? most : 1)) scored.push({ path: entry.path, score: score + (sibling ? 0 : 0.4) });
  }
  scored.sort((a, b) => a.score - b.score);
  const best = scored[0]?.score ?? 0;
  return scored.filter((one) => one.score <= best + 1).slice(0, 3).map((one) => one.path);
}
