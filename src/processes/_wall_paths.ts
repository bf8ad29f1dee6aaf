import { isAbsolute, relative, resolve, sep } from "node:path";
import type { SpawnOptions } from "../extension/spawned.ts";
import type { GrantedPath } from "../sandbox/confine/access.ts";
import { realPath } from "./_open_paths.ts";

/** The user's folders with keys, settings and conversations. */
export interface PrivateFolders {
  readonly home: string | null;
  readonly visHome: string | null;
}

/** Resolves their real paths. */
export async function realFolders({ home, visHome }: PrivateFolders): Promise<PrivateFolders> {
  const real = async (path: string | null): Promise<string | null> =>
    path === null ? null : (await realPath(path))?.path ?? resolve(path);
  return { home: await real(home), visHome: await real(visHome) };
}

/** The paths that do not contain a private folder. */
export function withoutPrivate(paths: readonly GrantedPath[], { home, visHome }: PrivateFolders): GrantedPath[] {
  return paths.filter(({ path }) => ![home, visHome].some((folder) => folder !== null && holds(path, folder)));
}

/** Throws Error if one of these paths would open a private folder. A workspace inside the home folder is allowed,
 * unless it is inside the Vis folder. */
export function refusePrivate(open: readonly GrantedPath[], { home, visHome }: PrivateFolders): void {
  for (const { path } of open) {
    const opened = [home, visHome].find((folder) => folder !== null && holds(path, folder));
    if (opened) throw new Error(`Cannot run commands: ${path} would give them access to ${opened}`);
    if (visHome !== null && holds(visHome, path)) {
      throw new Error(`Cannot run commands: ${path} is inside ${visHome}, the folder of Vis`);
    }
  }
}

/** Throws Error if programs would change settings or keys of the user. */
export function refuseSettings(
  write: readonly GrantedPath[],
  { home, workspace }: Pick<PrivateFolders, "home"> & { readonly workspace: string },
): void {
  for (const { path } of write) {
    if (home === null || holds(workspace, path) || !holds(home, path)) continue;
    const [first = ""] = relative(home, path).split(sep);
    if (!first.startsWith(".")) continue;
    throw new Error(`Cannot run commands that change ${path}: settings and keys of the user are in ${home}/${first}`);
  }
}

/** The real path of the folder that a command starts in; null for its home folder. Throws Error for one outside the
 * workspace. */
export async function commandFolder(
  workspace: string,
  { cwd = "." }: Pick<SpawnOptions, "cwd">,
): Promise<string | null> {
  if (cwd === null) return null;
  const found = await realPath(resolve(workspace, cwd));
  if (!found?.folder) throw new Error(`Cannot run a command in ${cwd}: the folder does not exist`);
  if (!holds(workspace, found.path)) throw new Error(`Cannot run a command in ${cwd}: it is outside the workspace`);
  return found.path;
}

/** Parts of a path that stand for others, or for nothing. */
const ODD = /[\\/](?:\.{0,2})(?:[\\/]|$)/;

/** Whether the path is the folder or inside it. */
export function holds(folder: string, path: string): boolean {
  if (path === "") return false;
  // Plain paths are compared as texts, which takes a tenth of the time.
  if (!ODD.test(folder) && !ODD.test(path)) return path === folder || path.startsWith(folder + sep);
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
