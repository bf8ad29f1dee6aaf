import { isAbsolute, relative, resolve, sep } from "node:path";
import type { GrantedPath } from "../sandbox/confine/access.ts";
import { realPath } from "./_open_paths.ts";

/** Folders of the user that hold keys, settings and conversations. */
export interface PrivateFolders {
  readonly home: string | null;
  readonly visHome: string | null;
}

/** Where they really are. */
export async function realFolders({ home, visHome }: PrivateFolders): Promise<PrivateFolders> {
  const real = async (path: string | null): Promise<string | null> =>
    path === null ? null : (await realPath(path))?.path ?? resolve(path);
  return { home: await real(home), visHome: await real(visHome) };
}

/** Those that do not hold one of the private folders. */
export function withoutPrivate(paths: readonly GrantedPath[], { home, visHome }: PrivateFolders): GrantedPath[] {
  return paths.filter(({ path }) => ![home, visHome].some((folder) => folder !== null && holds(path, folder)));
}

/** Throws Error where one of these would open a private folder. A workspace inside the home folder does not, unless it
 * is inside that of Vis. */
export function refusePrivate(open: readonly GrantedPath[], { home, visHome }: PrivateFolders): void {
  for (const { path } of open) {
    const opened = [home, visHome].find((folder) => folder !== null && holds(path, folder));
    if (opened) throw new Error(`Cannot run commands: ${path} would open ${opened} to them`);
    if (visHome !== null && holds(visHome, path)) {
      throw new Error(`Cannot run commands: ${path} lies in ${visHome}, where Vis keeps its own`);
    }
  }
}

/** The folder that a command starts in, real. Throws Error for one outside the workspace. */
export async function commandFolder(workspace: string, cwd: string): Promise<string> {
  const found = await realPath(resolve(workspace, cwd));
  if (!found?.folder) throw new Error(`Cannot run a command in ${cwd}: there is no such folder`);
  if (!holds(workspace, found.path)) throw new Error(`Cannot run a command in ${cwd}: it is outside the workspace`);
  return found.path;
}

/** Whether the path is the folder or inside it. */
export function holds(folder: string, path: string): boolean {
  if (path === "") return false;
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
