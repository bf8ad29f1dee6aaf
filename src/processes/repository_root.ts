import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../domain/kit/files.ts";

const BY_ANYONE = 0o002;

/** The top of the repository around a folder, which may be the folder itself; null if there is none. `folder` is a real
 * path. `closed` names folders that no repository may open, such as the user's home.
 *
 * The user chose the folder, but not the folders above it, and a `.git` in one of them would open it to the model. The
 * search therefore ends at another file system and at a folder of another user, as git's own does. The search also
 * ends at a folder that everybody may write, that contains a closed folder, or that holds settings in the home
 * folder. */
export function repositoryRoot(
  folder: string,
  { closed, user = Deno.build.os === "windows" ? null : Deno.uid() }: {
    readonly closed: readonly (string | null)[];
    readonly user?: number | null;
  },
): string | null {
  const start = factsOf(folder), kept = closed.flatMap(realPaths);
  if (start === null) return null;
  // Root may work in the folder of a user, in a container for example.
  const owners = user === 0 ? [0, start.uid] : [user];
  const isOwn = (facts: NonNullable<ReturnType<typeof factsOf>>): boolean =>
    user === null || owners.includes(facts.uid) && (facts.mode & BY_ANYONE) === 0;
  for (let at = folder;; at = dirname(at)) {
    const facts = factsOf(at);
    if (facts === null || facts.dev !== start.dev) return null;
    const isAbove = at !== folder;
    if (isAbove && (!isOwn(facts) || kept.some((one) => isWithin(one, at) || isSettings(at, one)))) return null;
    const git = factsOf(join(at, ".git"));
    const isTop = git?.isFile() || git?.isDirectory() && factsOf(join(at, ".git/HEAD")) !== null;
    if (git && isTop) return isAbove && !isOwn(git) ? null : at;
    if (at === dirname(at)) return null;
  }
}

/** Whether a path is a folder of settings and keys, such as `~/.config`. */
function isSettings(path: string, home: string): boolean {
  return dirname(path) === home && basename(path).startsWith(".");
}

function factsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function realPaths(path: string | null): readonly string[] {
  if (path === null) return [];
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path];
  }
}
