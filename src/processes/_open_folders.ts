import { realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import type { GrantedPath } from "../sandbox/confine/access.ts";
import {
  holds,
  machinePath,
  namedPath,
  type PrivateFolders,
  realFolders,
  refusePrivate,
  withoutPrivate,
} from "./_open_paths.ts";

interface Toolchain {
  /** Below the home folder. */
  readonly folder: string;
  /** What programs need of it; everything if absent. The rest may hold keys. */
  readonly parts?: readonly string[];
  /** Variable that says where it is, since programs have another home folder. */
  readonly variable?: string;
}

/** Where programming languages and their packages are kept in a home folder, by the documentation of each. */
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
/** Parts of the folder around an unknown `bin` folder of PATH. */
const AROUND_BIN = ["lib", "lib64", "libexec", "include", "share"];
/** Packages that tools look for in the home folder: shown there as links. */
const LINKED_PACKAGES: readonly string[] = [
  ".cargo/registry",
  ".cargo/git/db",
  ".cargo/git/checkouts",
  ".m2/repository",
];
/** Inherited if they are set: which version of a toolchain is in use. */
const VERSIONS = [
  "PYENV_VERSION",
  "RUSTUP_TOOLCHAIN",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "JAVA_HOME",
  "GOROOT",
  "NODE_ENV",
];
/** Keys and settings. Nothing that is one of these, contains one, or is in one, is opened. */
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
  /** Real paths that programs may read and run. */
  readonly read: readonly GrantedPath[];
  /** Real path of each linked package folder, by its path in a home folder. */
  readonly links: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** The toolchains in the user's home folder: the known ones, and the folders of PATH. The first request waits for this,
 * and most of the paths do not exist, so it asks without a turn of the event loop for each. */
function toolchainsOf(env: Readonly<Record<string, string | undefined>>, home: string | null): Toolchains {
  if (home === null) return { read: [], links: {}, env: {} };
  let keys: readonly GrantedPath[] | null = null;
  const open = (path: string): GrantedPath | null => {
    const found = existing(path);
    if (found === null || holds(found.path, home)) return null;
    keys ??= KEYS.map((key) => existing(join(home, key))).filter((one) => one !== null);
    return keys.some((key) => holds(key.path, found.path) || holds(found.path, key.path)) ? null : found;
  };
  const known = TOOLCHAINS.flatMap(({ folder, parts = [""] }) => parts.map((part) => join(home, folder, part)));
  const ofPath = (env["PATH"] ?? "").split(delimiter).filter((entry) => holds(home, entry))
    .flatMap((entry) => dirname(entry) === home ? [entry] : folderOfPath(entry));
  const links = LINKED_PACKAGES.flatMap((path) => {
    const found = open(join(home, path));
    return found === null ? [] : [[path, found.path]];
  });
  const places = TOOLCHAINS.flatMap(({ folder, variable }) => {
    const found = variable === undefined ? null : existing(env[variable] ?? join(home, folder));
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

function existing(path: string): GrantedPath | null {
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    return facts ? { path: realpathSync(path), folder: facts.isDirectory() } : null;
  } catch {
    return null;
  }
}

/** A folder of PATH with what its programs need beside it. */
function folderOfPath(entry: string): readonly string[] {
  if (!["bin", "sbin"].includes(basename(entry))) return [entry];
  return [entry, ...AROUND_BIN.map((part) => join(dirname(entry), part))];
}

/** What programs may use of this machine, as far as the prompt says it. */
export interface OpenFolders {
  readonly folders: PrivateFolders;
  readonly read: readonly GrantedPath[];
  /** Folders of PATH that programs may read: shells stop at the first match, even if they are not allowed to run it. */
  readonly path: string;
  /** Its other folders. */
  readonly leftOut: readonly string[];
  /** Variables of toolchains in the user's home folder. */
  readonly env: Readonly<Record<string, string>>;
  /** Links to packages in the home folder of a program, by their paths in it. */
  readonly packages: Readonly<Record<string, string>>;
}

/** `read` is the system's own, `first` comes first in PATH, and `runs` says where else the system lets programs run. Throws
 * Error if the settings name a path that cannot be opened. */
export async function openFolders(
  { private: own, read: named, env }: {
    readonly private: PrivateFolders;
    readonly read: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  },
  { read: system, first = [], variables = {}, runs = () => false, usual }: {
    readonly read: readonly GrantedPath[];
    readonly first?: readonly string[];
    readonly variables?: Readonly<Record<string, string>>;
    readonly runs?: (path: string) => boolean;
    readonly usual: string;
  },
): Promise<OpenFolders> {
  const folders = await realFolders(own);
  const opened = await Promise.all(named.map(namedPath));
  refusePrivate(opened, folders);
  const toolchains = toolchainsOf(env, folders.home);
  const read = [...withoutPrivate([...toolchains.read, ...system], folders), ...opened];
  const entries = [...new Set((env["PATH"] || usual).split(delimiter).filter(isAbsolute))];
  const real = new Map(entries.map((entry) => [entry, machinePath(entry)?.path ?? ""]));
  const isOpen = (path: string): boolean => runs(path) || read.some((granted) => holds(granted.path, path));
  const open = entries.filter((entry) => isOpen(real.get(entry) ?? ""));
  return {
    folders,
    read,
    path: [...first, ...(open.length > 0 ? open : [usual])].join(delimiter),
    // A folder that does not exist is not missed.
    leftOut: entries.filter((entry) => !open.includes(entry) && real.get(entry) !== ""),
    env: { ...variables, ...toolchains.env },
    packages: toolchains.links,
  };
}
