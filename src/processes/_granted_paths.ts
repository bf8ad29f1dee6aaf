import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { advised } from "../domain/errors.ts";
import { isWithin } from "../domain/kit/files.ts";
import type { SpawnOptions } from "../extension/spawn_types.ts";
import type { GrantedPath } from "../sandbox/confine/access.ts";
import { realEntry, realPathOf } from "./_paths.ts";

export interface WallOptions {
  readonly home: string | null;
  readonly visHome: string | null;
  readonly read: readonly string[];
  readonly network: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets?: readonly string[];
  readonly database?: string | null;
  readonly temporary?: string;
}

export type PrivateFolders = Pick<WallOptions, "home" | "visHome">;

function realFolders({ home, visHome }: PrivateFolders): PrivateFolders {
  const real = (path: string | null): string | null => path === null ? null : realPathOf(path) ?? resolve(path);
  return { home: real(home), visHome: real(visHome) };
}

export function withoutPrivate(paths: readonly GrantedPath[], { home, visHome }: PrivateFolders): GrantedPath[] {
  return paths.filter(({ path }) => ![home, visHome].some((folder) => folder !== null && isWithin(folder, path)));
}

export function refusePrivate(
  open: readonly GrantedPath[],
  { home, visHome }: PrivateFolders,
  { workspace = "" }: { readonly workspace?: string } = {},
): void {
  for (const { path } of open) {
    const advice = path === workspace
      ? "start Vis in another folder"
      : "leave this path out of the settings or the call";
    const opened = [home, visHome].find((folder) => folder !== null && isWithin(folder, path));
    if (opened) {
      const folder = opened === home ? "your home folder" : `${opened}, the folder of Vis`;
      throw new Error(
        `Cannot run commands: ${path} ${path === opened ? "is" : "contains"} ${folder}; ${advice}`,
      );
    }
    if (visHome !== null && isWithin(path, visHome)) {
      throw new Error(
        `Cannot run commands: ${path} is inside ${visHome}, the folder of Vis; ${advice}`,
      );
    }
  }
}

interface Toolchain {
  readonly folder: string;
  /** Programs may read only these parts, because other parts may hold keys. If absent, programs may read the whole
   * folder. */
  readonly parts?: readonly string[];
  /** Programs have another home folder, so this variable names the toolchain's folder. */
  readonly variable?: string;
}

const TOOLCHAINS: readonly Toolchain[] = [
  { folder: ".pyenv", variable: "PYENV_ROOT" },
  { folder: ".nvm", variable: "NVM_DIR" },
  { folder: ".volta", parts: ["bin", "tools"], variable: "VOLTA_HOME" },
  { folder: ".fnm" },
  { folder: ".local/share/fnm" },
  { folder: ".cargo", parts: ["bin", "registry", "git/db", "git/checkouts"] },
  { folder: ".rustup", variable: "RUSTUP_HOME" },
  { folder: "go", parts: ["bin", "pkg"] },
  { folder: "sdk" },
  { folder: ".deno", parts: ["bin"] },
  { folder: ".bun", parts: ["bin"] },
  { folder: ".sdkman", parts: ["bin", "candidates", "libexec"], variable: "SDKMAN_DIR" },
  { folder: ".asdf", variable: "ASDF_DATA_DIR" },
  { folder: ".local/share/mise", variable: "MISE_DATA_DIR" },
  { folder: ".rbenv", variable: "RBENV_ROOT" },
  { folder: ".local", parts: ["bin", "lib"], variable: "PYTHONUSERBASE" },
  { folder: ".local/share/uv" },
  { folder: ".local/share/pipx" },
  { folder: ".local/share/pnpm" },
  { folder: "Library/pnpm" },
  { folder: ".local/share/virtualenvs" },
  { folder: ".m2/repository" },
];
const AROUND_BIN = ["lib", "lib64", "libexec", "include", "share"];
const LINKED_PACKAGES: readonly string[] = [
  ".cargo/registry",
  ".cargo/git/db",
  ".cargo/git/checkouts",
  ".m2/repository",
];
const VERSIONS = [
  "PYENV_VERSION",
  "RUSTUP_TOOLCHAIN",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "JAVA_HOME",
  "GOROOT",
  "NODE_ENV",
];
/** These paths may contain keys and settings, so Vis opens no toolchain or folder of PATH that overlaps one of these
 * paths. The user's settings can still name such a folder. */
const KEYS = [
  ...[".ssh", ".aws", ".gnupg", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".docker", ".kube", ".azure"],
  ...[
    ".config",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".mozilla",
    ".password-store",
    ".local/share/keyrings",
  ],
  ...[".m2/settings.xml", ".gradle/gradle.properties", ".bash_history", ".zsh_history"],
];

interface Toolchains {
  readonly read: readonly GrantedPath[];
  readonly links: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** The first request waits for this check of many paths, so the check is synchronous, which is faster. */
function toolchainsOf(env: Readonly<Record<string, string | undefined>>, home: string | null): Toolchains {
  if (home === null) return { read: [], links: {}, env: {} };
  let keys: readonly GrantedPath[] | null = null;
  const open = (path: string): GrantedPath | null => {
    const found = realEntry(path);
    if (found === null || isWithin(home, found.path)) return null;
    keys ??= KEYS.map((key) => realEntry(join(home, key))).filter((one) => one !== null);
    return keys.some((key) => isWithin(found.path, key.path) || isWithin(key.path, found.path)) ? null : found;
  };
  const known = TOOLCHAINS.flatMap(({ folder, parts = [""] }) => parts.map((part) => join(home, folder, part)));
  const ofPath = (env["PATH"] ?? "").split(delimiter).filter((entry) => isWithin(entry, home))
    .flatMap((entry) => dirname(entry) === home ? [entry] : folderOfPath(entry));
  const links = LINKED_PACKAGES.flatMap((path) => {
    const found = open(join(home, path));
    return found === null ? [] : [[path, found.path]];
  });
  const places = TOOLCHAINS.flatMap(({ folder, variable }) => {
    const found = variable === undefined ? null : realEntry(env[variable] ?? join(home, folder));
    return variable === undefined || found === null ? [] : [[variable, found.path]];
  });
  const modules = open(join(home, "go/pkg/mod"));
  return {
    read: [...new Set([...known, ...ofPath])].map(open).filter((one) => one !== null),
    links: Object.fromEntries(links),
    env: {
      ...Object.fromEntries(places),
      ...(modules ? { GOMODCACHE: modules.path } : {}),
      ...Object.fromEntries(VERSIONS.flatMap((name) => env[name] ? [[name, env[name]]] : [])),
    },
  };
}

function folderOfPath(entry: string): readonly string[] {
  if (!["bin", "sbin"].includes(basename(entry))) return [entry];
  return [entry, ...AROUND_BIN.map((part) => join(dirname(entry), part))];
}

function namedPath(path: string): GrantedPath {
  const found = isAbsolute(path) ? realEntry(path) : null;
  if (found) return found;
  throw new Error(
    `Cannot run commands: the added folder ${path} is missing or unreachable; start Vis without it`,
  );
}

export interface OpenFolders {
  readonly folders: PrivateFolders;
  readonly read: readonly GrantedPath[];
  /** A shell stops at the first match in PATH, even if the shell may not run the match. Vis therefore omits folders
   * that programs may not read. */
  readonly path: string;
  readonly leftOut: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly packages: Readonly<Record<string, string>>;
}

/** `read` has the paths of the system, and `first` comes first in PATH. `runs` tests where else the system lets
 * programs run. Throws if the settings name a missing or private path. */
export function openFolders(
  { home, visHome, read: named, env }: Pick<WallOptions, "home" | "visHome" | "read" | "env">,
  { read: system, first = [], variables = {}, runs = () => false, usual }: {
    readonly read: readonly GrantedPath[];
    readonly first?: readonly string[];
    readonly variables?: Readonly<Record<string, string>>;
    readonly runs?: (path: string) => boolean;
    readonly usual: string;
  },
): OpenFolders {
  const folders = realFolders({ home, visHome });
  const opened = named.map(namedPath);
  refusePrivate(opened, folders);
  const toolchains = toolchainsOf(env, folders.home);
  const read = [...withoutPrivate([...toolchains.read, ...system], folders), ...opened];
  const entries = [...new Set((env["PATH"] || usual).split(delimiter).filter(isAbsolute))];
  const real = new Map(entries.map((entry) => [entry, realEntry(entry)?.path ?? ""]));
  const isOpen = (path: string): boolean => runs(path) || read.some((granted) => isWithin(path, granted.path));
  const open = entries.filter((entry) => isOpen(real.get(entry) ?? ""));
  return {
    folders,
    read,
    path: [...first, ...(open.length > 0 ? open : [usual])].join(delimiter),
    leftOut: entries.filter((entry) => !open.includes(entry) && real.get(entry) !== ""),
    env: { ...variables, ...toolchains.env },
    packages: toolchains.links,
  };
}

const DEVICES = ["null", "zero", "full", "random", "urandom"].map((name) => `/dev/${name}`);

export async function deviceNodes(): Promise<readonly string[]> {
  const there = await Promise.all(DEVICES.map((path) => Deno.lstat(path).then((it) => it.isCharDevice, () => false)));
  return DEVICES.filter((_, at) => there[at]);
}

export function startFolder(
  workspace: string,
  { cwd = ".", root = workspace }: Pick<SpawnOptions, "cwd" | "root">,
): string | null {
  if (cwd === null) return null;
  const found = realEntry(resolve(workspace, cwd));
  if (found === null) {
    throw advised(
      new Error(`Cannot run a command in ${cwd}: the folder does not exist, or Vis cannot reach it`),
      "name a folder in the workspace",
    );
  }
  if (!found.folder) throw advised(new Error(`Cannot run a command in ${cwd}: it is not a folder`), "name a folder");
  if (!isWithin(found.path, root)) {
    throw advised(
      new Error(`Cannot run a command in ${cwd}: the folder is outside ${root}`),
      "name one inside",
    );
  }
  return found.path;
}

/** Another program may have created a link in the workspace, so this function refuses a path that leads out of the
 * workspace through a link. */
export function callPaths(
  workspace: string,
  { read, write }: Record<"read" | "write", readonly string[]>,
  folders: PrivateFolders,
): Record<"read" | "write", readonly GrantedPath[]> {
  const real = (path: string): GrantedPath => {
    const found = isAbsolute(path) ? realEntry(path) : null;
    if (found && isWithin(path, workspace) && !isWithin(found.path, workspace)) {
      throw advised(
        new Error(`Cannot run a command with ${path}: the path leads out of the workspace`),
        `to allow it, name its real path ${found.path}`,
      );
    }
    if (found) return found;
    throw advised(
      new Error(`Cannot run a command with ${path}: it is not an absolute path of an existing file or folder`),
      "correct the path",
    );
  };
  const reads = [workspace, ...read].map(real), writes = write.map(real);
  refusePrivate([...reads, ...writes], folders, reads[0] && { workspace: reads[0].path });
  refuseSettings(writes, { home: folders.home, workspace });
  return { read: reads, write: writes };
}

export function checkPaths(
  workspace: string,
  { write = [], cwd = ".", root = workspace }: Pick<SpawnOptions, "write" | "cwd" | "root">,
  folders: PrivateFolders,
): void {
  startFolder(workspace, { cwd, root });
  callPaths(root, { read: [], write }, realFolders(folders));
}

function refuseSettings(
  write: readonly GrantedPath[],
  { home, workspace }: Pick<PrivateFolders, "home"> & { readonly workspace: string },
): void {
  for (const { path } of write) {
    if (home === null || isWithin(path, workspace) || !isWithin(path, home)) continue;
    const [first = ""] = relative(home, path).split(sep);
    if (!first.startsWith(".")) continue;
    throw advised(
      new Error(`Cannot run commands that change ${path}: ${home}/${first} may have settings or keys of the user`),
      "let the command write in the workspace",
    );
  }
}
