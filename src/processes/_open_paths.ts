import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { userGitSettings } from "../domain/kit/git_config.ts";
import type { SpawnOptions } from "../extension/spawned.ts";
import type { GrantedPath } from "../sandbox/confine/access.ts";

/** The system folders that programs need. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"];
/** Never a link; the runtime looks at nothing there unless every permission was given. */
const PROCESSES: GrantedPath = { path: "/proc", folder: true };
/** `resolv.conf` is often a link to another location. */
const LINKED = ["/etc/resolv.conf"];
const DEVICES = ["null", "zero", "full", "random", "urandom"].map((name) => `/dev/${name}`);
const ETC_DEPTH = 4;

/** Folders of the machine with programs that every program may read and run: real paths, and only those that exist. */
export function systemPaths(): readonly GrantedPath[] {
  const found = [...SYSTEM, ...LINKED].map(machinePath);
  return distinct([PROCESSES, ...found.filter((one) => one !== null)]);
}

/** The settings of the machine that every program may read. Root may read all its own files, keys of the machine
 * included, whatever rights it has dropped: for it, only what everybody may read, which takes a while to find. */
export async function settingsPaths(): Promise<readonly GrantedPath[]> {
  return Deno.uid() === 0 ? distinct(await readable("/etc", ETC_DEPTH)) : [{ path: "/etc", folder: true }];
}

export async function deviceNodes(): Promise<readonly string[]> {
  const there = await Promise.all(DEVICES.map((path) => Deno.lstat(path).then((it) => it.isCharDevice, () => false)));
  return DEVICES.filter((_, at) => there[at]);
}

/** The links that lead from these paths and the system's to real ones, where they are and where they lead. */
export async function linksOf(paths: readonly string[]): Promise<readonly (readonly [path: string, to: string])[]> {
  const found = new Map<string, string>();
  for (const path of [...SYSTEM, ...LINKED, ...paths]) await followLinks(path, found);
  return [...found];
}

async function followLinks(path: string, found: Map<string, string>): Promise<void> {
  const [, ...names] = path.split("/");
  let at = "";
  for (const [index, name] of names.entries()) {
    at = `${at}/${name}`;
    const to = found.get(at) ?? await Deno.readLink(at).catch(() => null);
    if (to === null) continue;
    const isNew = !found.has(at);
    found.set(at, to);
    // A link that was followed before may be one in a circle.
    if (isNew) await followLinks(resolve(dirname(at), to, ...names.slice(index + 1)), found);
    return;
  }
}

/** Null if nothing exists. */
export async function realPath(path: string): Promise<GrantedPath | null> {
  try {
    const real = await Deno.realPath(path);
    return { path: real, folder: (await Deno.stat(real)).isDirectory };
  } catch {
    return null;
  }
}

/** `realPath` for folders of the machine: the runtime would start a thread for each of them, which takes longer. */
export function machinePath(path: string): GrantedPath | null {
  try {
    const real = Deno.realPathSync(path);
    return { path: real, folder: Deno.statSync(real).isDirectory };
  } catch {
    return null;
  }
}

/** What everybody may read below a folder, as the smallest list of paths. */
async function readable(folder: string, depth: number): Promise<readonly GrantedPath[]> {
  const parts: GrantedPath[] = [];
  let whole = true;
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    const info = await Deno.lstat(path).catch(() => null);
    if (!info || info.isSymlink) continue;
    const open = ((info.mode ?? 0) & (info.isDirectory ? 0o5 : 0o4)) !== 0;
    if (!open || (info.isDirectory && depth === 0)) whole = false;
    else if (info.isDirectory) {
      const inner = await readable(path, depth - 1);
      if (inner.length !== 1 || inner[0]?.path !== path) whole = false;
      parts.push(...inner);
    } else parts.push({ path, folder: false });
  }
  return whole ? [{ path: folder, folder: true }] : parts;
}

function distinct(paths: readonly GrantedPath[]): readonly GrantedPath[] {
  return [...new Map(paths.map((one) => [one.path, one])).values()];
}

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

/** Inherited from the environment of Vis; everything else that a program gets is set by its wall. */
const INHERITED = ["LANG", "LC_ALL", "LC_CTYPE", "TZ"];

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

interface HomeParts {
  /** Where links in it lead, by their paths in it. */
  readonly links: Readonly<Record<string, string>>;
  /** The user's own. */
  readonly home: string | null;
  readonly workspace: string;
}

/** Fills the temporary home folder of a program: links to packages, and a git configuration that says who the user is
 * and nothing else. */
export async function makeHome(folder: string, { links, home, workspace }: HomeParts): Promise<void> {
  const linked = Object.entries(links).map(async ([path, to]) => {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.symlink(to, join(folder, path));
  });
  const named = userGitSettings({ home, gitDir: join(workspace, ".git") }).then(async (settings) => {
    const lines = settings.flatMap(({ section, subsection, key, value }) =>
      section === "user" && subsection === null && ["name", "email"].includes(key)
        ? [`\t${key} = ${JSON.stringify(value)}\n`]
        : []
    );
    if (lines.length > 0) await Deno.writeTextFile(join(folder, ".gitconfig"), `[user]\n${lines.join("")}`);
  });
  await Promise.all([...linked, named]);
}

/** The few variables that every program gets. */
export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { folder, language }: Readonly<Record<"folder" | "language", string>>,
): Readonly<Record<string, string>> {
  return {
    LANG: language,
    ...Object.fromEntries(INHERITED.flatMap((name) => env[name] ? [[name, env[name]]] : [])),
    TERM: "dumb",
    HOME: folder,
    TMPDIR: folder,
    GIT_OPTIONAL_LOCKS: "0", // `git status` would like to write its index
  };
}
