import { messageOf } from "@vis/extension";
import type { FsContext } from "../workspace/context.ts";
import { findFiles } from "../search/find_files.ts";
import { GlobMatcher } from "../walk/glob_matcher.ts";
import { confine } from "../workspace/confine.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { readFile, type ReadFileOptions } from "./read_file.ts";

export type ReadEntry = { readonly path: string; readonly text: string } | {
  readonly path: string;
  readonly error: string;
};

const MAX_FILES = 5_000;
/** Limit of all texts together, in characters. */
const MAX_TOTAL = 16 * 1024 * 1024;

/** Reads many files in one call; one that cannot be read has the reason instead of its text. */
export async function readFiles(
  context: FsContext,
  wanted: string | readonly string[],
  options: ReadFileOptions = {},
): Promise<ReadEntry[]> {
  if (wanted.length > MAX_FILES && typeof wanted !== "string") throw tooMany(wanted.length);
  const paths = await pathsOf(context, typeof wanted === "string" ? [wanted] : wanted);
  if (paths.length > MAX_FILES) throw tooMany(paths.length);
  const entries: ReadEntry[] = [];
  let total = 0;
  const pace = new Pace(context.signal);
  for (const path of paths) {
    if (pace.due) await pace.rest();
    const entry = await readOne(context, path, options);
    total += "text" in entry ? entry.text.length : 0;
    entries.push(
      total <= MAX_TOTAL ? entry : { path: entry.path, error: "Not read: 16 MB of text in one call is the most" },
    );
  }
  return entries;
}

function tooMany(count: number): RangeError {
  return new RangeError(`Cannot read ${count} files at once: at most ${MAX_FILES}`);
}

async function readOne(context: FsContext, path: Wanted, options: ReadFileOptions): Promise<ReadEntry> {
  if (typeof path !== "string") return path;
  try {
    return { path, text: await readFile(context, path, options) };
  } catch (error) {
    context.signal?.throwIfAborted();
    return { path, error: messageOf(error) };
  }
}

/** A path, or the error for a pattern that matches no file. */
type Wanted = string | { readonly path: string; readonly error: string };

async function pathsOf(context: FsContext, wanted: readonly string[]): Promise<Wanted[]> {
  const excluded = wanted.filter((one) => one.startsWith("!"));
  const paths = new Set<Wanted>();
  for (const one of wanted) {
    if (one.startsWith("!")) continue;
    if (!GlobMatcher.isPattern(one) || confine(context, one).info !== null) {
      paths.add(one);
      continue;
    }
    const found = await findFiles(context, [one, ...excluded]);
    if (found.length === 0) paths.add({ path: one, error: `No file matches ${one}` });
    for (const path of found) paths.add(path);
  }
  return [...paths];
}
