import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError, fileFault } from "../domain/errors.ts";
import { firstEntries } from "../domain/kit/files.ts";
import type { ChildAccess } from "./child/setup.ts";

/** Hidden first argument that makes the executable a sandbox child (src/app.ts). */
export const CHILD_ARGUMENT = "__sandbox_child";

export interface ChildProgram {
  readonly path: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const ENVIRONMENT = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", TZ: "UTC" };

/** Returns an environment without any value of this process: no path, no key, no locale. A folder below a device cannot
 * be created, which prevents a Deno cache. On Windows, the environment names the system folder, which sockets and
 * random numbers need. */
export function childEnvironment(os: typeof Deno.build.os): Readonly<Record<string, string>> {
  return os === "windows"
    ? { ...ENVIRONMENT, DENO_DIR: "\\\\.\\NUL\\deno", SystemRoot: "C:\\Windows" }
    : { ...ENVIRONMENT, DENO_DIR: "/dev/null/deno" };
}

export function startChild({ path, args, env }: ChildProgram, folder: string): Deno.ChildProcess {
  return new Deno.Command(path, {
    args: [...args],
    cwd: folder,
    clearEnv: true,
    env: { ...childEnvironment(Deno.build.os), ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

export interface FirstChild {
  readonly process: Deno.ChildProcess;
  readonly folder: string;
}

export const FOLDER_PREFIX = "vis-sandbox-";
/** The entry of the executable and the program each have a copy of this file, so the child is kept under a global
 * symbol. */
const PLACE = Symbol.for("vis.firstChild");

/** The first sandbox uses this child. */
export function keepFirstChild(child: FirstChild): void {
  Reflect.set(globalThis, PLACE, child);
}

/** Returns the first child once, and null from then on. */
export function takeFirstChild(): FirstChild | null {
  const child: FirstChild | undefined = Reflect.get(globalThis, PLACE);
  Reflect.deleteProperty(globalThis, PLACE);
  return child ?? null;
}

export function endFirstChild(): void {
  const child = takeFirstChild();
  if (child === null) return;
  try {
    child.process.kill("SIGKILL");
    Deno.removeSync(child.folder);
  } catch { /* The child has ended, or a later start removes the folder. */ }
}

/** The compilation cache is off: it would hold every block forever and never match, as each has its own file name. The
 * young heap is 2 MB, as in the main process. */
export const CHILD_V8_FLAGS: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--no-compilation-cache",
  "--max-semi-space-size=2",
];
/** The garbage collector gives up well below the memory limit. Near the limit, the collector would first thrash for
 * seconds. */
const HEAP_SHARE = 0.75;
const MIB = 1 << 20;
const FOLDERS = ["../../build/sandbox/", "../sandbox/"];

interface ChildProgramOptions {
  readonly memoryBytes: number;
  /** Says whether the child keeps all Deno permissions. Only tests and the probe of `vis doctor` set this. */
  readonly allPermissions: boolean;
  /** The access of the child, which needs every permission that it passes to a worker. */
  readonly access?: ChildAccess;
}

/** Returns the same child behind a launcher that passes stdio through, or the child itself without a launcher. */
export function launched(program: ChildProgram, [path, ...args]: readonly string[]): ChildProgram {
  return path === undefined ? program : { ...program, path, args: [...args, program.path, ...program.args] };
}

/** Throws if the bundles of the child have not been built. */
export function childProgram({ memoryBytes, allPermissions, access }: ChildProgramOptions): ChildProgram {
  const path = Deno.execPath();
  if (Deno.build.standalone) return { path, args: [CHILD_ARGUMENT] };
  const folder = bundleFolder();
  const heap = Math.max(64, Math.floor(memoryBytes / MIB * HEAP_SHARE));
  const permissions = allPermissions ? ["--allow-all"] : permissionFlags(folder, access);
  return {
    path,
    args: [
      "run",
      "--quiet",
      // Without these three flags, an import() of npm or http ignores all permissions and contacts the registry.
      "--no-npm",
      "--no-remote",
      "--cached-only",
      "--no-config",
      "--no-lock",
      "--no-prompt",
      "--no-check",
      "--unstable-worker-options",
      ...permissions,
      `--v8-flags=${[...CHILD_V8_FLAGS, `--max-old-space-size=${heap}`].join(",")}`,
      `${folder}child.js`,
    ],
  };
}

function permissionFlags(folder: string, access: ChildAccess | undefined): string[] {
  const { net = [], read = [], write = [] } = access ?? {};
  const flag = (kind: string, values: readonly string[]): string[] =>
    values.length > 0 ? [`--allow-${kind}=${values.map((value) => value.replaceAll(",", ",,")).join(",")}`] : [];
  return [
    ...flag("read", [folder, ...read.map(({ path }) => path)]),
    ...flag("write", write.map(({ path }) => path)),
    ...flag("net", net),
    "--allow-ffi",
  ];
}

function bundleFolder(): string {
  const folders = FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
  for (const folder of folders) {
    if (isFile(`${folder}child.js`) && isFile(`${folder}worker.js`)) return folder;
  }
  throw new Error(`Cannot start the sandbox: ${folders[0]} has no child.js or no worker.js; run bin/deno task build`);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** An empty folder for one child, readable only by its owner and locked while this process runs. */
export class WorkFolder {
  readonly path: string;
  readonly #lock: Deno.FsFile | null;

  /** `root` is the temporary folder by default. `made` is an existing folder. Throws `ConfigError` if no folder can be
   * created. */
  constructor({ root, made = newFolder(root) }: { readonly root?: string | undefined; readonly made?: string } = {}) {
    this.path = made;
    this.#lock = lockFolder(this.path);
  }

  static async sweep(root: string = temporaryFolder()): Promise<void> {
    for await (const path of leftFolders(root, FOLDER_PREFIX)) remove(path);
  }

  remove(): void {
    remove(this.path);
    this.#lock?.close();
  }
}

function newFolder(root: string = temporaryFolder()): string {
  try {
    return Deno.makeTempDirSync({ dir: root, prefix: FOLDER_PREFIX });
  } catch (error) {
    throw new ConfigError(
      `Cannot make a folder for the sandbox in ${root}: ${fileFault(error)}; set TMPDIR to a folder that ` +
        "Vis may write",
      { cause: error },
    );
  }
}

function temporaryFolder(): string {
  return resolve(tmpdir());
}

/** Ignores a folder that is already gone or cannot be removed. */
function remove(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* The next start removes the folder. */ }
}

/** A folder may not be locked yet when it is this new. */
const LEFTOVER_MS = 60_000;
/** The limit of the names that are read. A temporary folder is shared and has any number of names. */
const MOST_NAMES = 10_000;
/** The C library, with its functions for locks of folders, which Windows does not have. */
const LIBRARY: Partial<Record<typeof Deno.build.os, string>> = {
  linux: "libc.so.6",
  darwin: "/usr/lib/libSystem.B.dylib",
};
const LOCKS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  flock: { parameters: ["i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const;
const O_RDONLY = 0, LOCK_EX_NB = 0b110, O_CLOEXEC = Deno.build.os === "darwin" ? 0x1000000 : 0o2000000;

/** Locks a folder while this process runs, until the file is closed. The kernel releases the lock with the process, and
 * the lock works across containers that share the folder, where process ids mislead. Returns null if the system has no
 * such locks; leftovers then stay. */
export function lockFolder(path: string): Deno.FsFile | null {
  try {
    const folder = Deno.openSync(path);
    folder.lockSync(true);
    return folder;
  } catch {
    return null;
  }
}

/** Yields folders in `root` that killed processes left: names that begin with `prefix`, among the first names of
 * `root`. Each folder is locked until the next folder is requested. */
export async function* leftFolders(root: string, prefix: string): AsyncGenerator<string> {
  const { entries } = await firstEntries(root, { most: MOST_NAMES }).catch(() => ({ entries: [] }));
  for (const { name, isDirectory } of entries) {
    const path = join(root, name);
    const unlock = isDirectory && name.startsWith(prefix) && isOld(path) ? lockLeft(path) : null;
    if (unlock === null) continue;
    try {
      yield path;
    } finally {
      unlock();
    }
  }
}

function isOld(path: string): boolean {
  try {
    const { mtime, uid } = Deno.lstatSync(path);
    return mtime !== null && Date.now() - mtime.getTime() > LEFTOVER_MS && uid === Deno.uid();
  } catch {
    return false;
  }
}

/** Returns null if another process has locked the folder, or if the system cannot lock it. */
function lockLeft(path: string): (() => void) | null {
  try {
    const library = Deno.dlopen(LIBRARY[Deno.build.os] ?? "", LOCKS);
    const { open, flock, close } = library.symbols;
    const folder = open(new TextEncoder().encode(`${path}\0`), O_RDONLY | O_CLOEXEC);
    const isFree = folder >= 0 && flock(folder, LOCK_EX_NB) === 0;
    const unlock = (): void => {
      if (folder >= 0) close(folder);
      library.close();
    };
    if (isFree) return unlock;
    unlock();
    return null;
  } catch {
    return null;
  }
}
