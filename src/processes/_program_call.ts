import { delimiter, isAbsolute } from "node:path";
import type { SpawnOptions } from "../extension/spawned.ts";
import type { GrantedPath } from "../sandbox/confine/access.ts";
import { machinePath, realPath } from "./_open_paths.ts";
import { holds } from "./_wall_paths.ts";

export const TIMEOUT_MS = 120_000, MAX_BYTES = 1 << 20;
const MAX_TIMEOUT_MS = 24 * 3_600_000, LARGEST_BYTES = 32 << 20;
/** Inherited from the environment of Vis; everything else that a program gets is set by its wall. */
export const INHERITED = ["LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/** Throws TypeError or RangeError for a call that no wall can run. */
export function checkCall(argv: readonly string[], { timeoutMs = 1, maxBytes = 1, env = {} }: SpawnOptions): void {
  if (!argv[0]) throw new TypeError("Cannot run an empty command");
  if ([...argv, ...Object.entries(env).flat()].some((text) => text.includes("\0"))) {
    throw new TypeError("Cannot run a command that contains a NUL character");
  }
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new RangeError(`Cannot run a command for ${timeoutMs} ms: the limit is ${MAX_TIMEOUT_MS}`);
  }
  if (!(maxBytes > 0 && maxBytes <= LARGEST_BYTES)) {
    throw new RangeError(`Cannot keep ${maxBytes} bytes of a command's output: the limit is ${LARGEST_BYTES}`);
  }
}

/** What a program may read and change in addition to what all may. Throws Error for a missing path, and for a path of
 * the workspace that leads out of it, since other programs may have created it. */
export async function callPaths(
  workspace: string,
  { read, write }: Record<"read" | "write", readonly string[]>,
): Promise<Record<"read" | "write", readonly GrantedPath[]>> {
  const real = async (path: string): Promise<GrantedPath> => {
    const found = isAbsolute(path) ? await realPath(path) : null;
    if (found && holds(workspace, path) && !holds(workspace, found.path)) {
      throw new Error(`Cannot run a command with ${path}: it leads out of the workspace`);
    }
    if (found) return found;
    throw new Error(`Cannot run a command with ${path}: it is not an absolute path of an existing file or folder`);
  };
  const [reads, writes] = await Promise.all([
    Promise.all([workspace, ...read].map(real)),
    Promise.all(write.map(real)),
  ]);
  return { read: reads, write: writes };
}

/** A path that the settings let programs read. Throws Error if it does not exist. */
export async function namedPath(path: string): Promise<GrantedPath> {
  const found = isAbsolute(path) ? await realPath(path) : null;
  if (found) return found;
  throw new Error(
    `Cannot run commands: the settings let them read ${path}, which is not an absolute path of an existing file or folder (vis config list)`,
  );
}

/** Variables of a program that trusts nothing in the workspace. Folders have their real paths, so that no link in the
 * workspace leads from PATH to its programs; `usual` is the PATH if none is left. */
export function outsideWorkspace(
  workspace: string,
  { path, env }: { readonly path: string; readonly env: Readonly<Record<string, string>> },
  usual: string,
): Readonly<Record<string, string>> {
  const real = (named: string): string => machinePath(named)?.path ?? named;
  const isOutside = (named: string): boolean => !holds(workspace, named) && !holds(workspace, real(named));
  const folders = new Set(path.split(delimiter).filter(isOutside).map(real));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([, text]) => !isAbsolute(text) || isOutside(text))),
    PATH: folders.size > 0 ? [...folders].join(delimiter) : usual,
  };
}
