import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError, fileFault } from "../domain/errors.ts";
import { firstEntries } from "../domain/kit/files.ts";
import type { ChildAccess } from "./child/setup.ts";

export const CHILD_ARGUMENT = "__sandbox_child";

export interface ChildProgram {
  readonly path: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const ENVIRONMENT = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", TZ: "UTC" };

/** `DENO_DIR` is below a device, so Deno cannot create a cache. On Windows, sockets and random numbers need
 * `SystemRoot`. */
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
/** The executable's entry and the program load separate copies of this file, so a global symbol shares the child. */
const PLACE = Symbol.for("vis.firstChild");

export function keepFirstChild(child: FirstChild): void {
  Reflect.set(globalThis, PLACE, child);
}

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

/** The compilation cache is off, because each block has its own file name and would stay in the cache without a hit. */
export const CHILD_V8_FLAGS: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--no-compilation-cache",
  "--max-semi-space-size=2",
];
/** V8 gives up at this share of the memory limit, because its garbage collector would run for seconds near the
 * limit. */
const HEAP_SHARE = 0.75;
const MIB = 1 << 20;
const FOLDERS = ["../../build/sandbox/", "../sandbox/"];

interface ChildProgramOptions {
  readonly memoryBytes: number;
  readonly allPermissions: boolean;
  /** The child itself needs each permission that it passes to a worker. */
  readonly access?: ChildAccess;
}

export function launched(program: ChildProgram, [path, ...args]: readonly string[]): ChildProgram {
  return path === undefined ? program : { ...program, path, args: [...args, program.path, ...program.args] };
}

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
      // Without these three flags, an `import()` of an npm or http specifier would use the network despite the
      // permissions.
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

export class WorkFolder {
  readonly path: string;
  readonly #lock: Deno.FsFile | null;

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
      `Cannot make a folder for the sandbox in ${root}: ${fileFault(error)}; set ${
        Deno.build.os === "windows" ? "TEMP" : "TMPDIR"
      } to a folder in which Vis may write`,
      { cause: error },
    );
  }
}

function temporaryFolder(): string {
  return resolve(tmpdir());
}

function remove(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* A later start removes the folder. */ }
}

/** The owner of a folder this young may not have locked it yet. */
const LEFTOVER_MS = 60_000;
const MOST_NAMES = 10_000;
/** Windows has no entry, because its C library cannot lock folders. */
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

/** Returns a file that holds the lock until the file closes or the process ends, or null without a lock. The kernel
 * keeps the lock, because process ids mislead in containers that share the folder. */
export function lockFolder(path: string): Deno.FsFile | null {
  try {
    const folder = Deno.openSync(path);
    folder.lockSync(true);
    return folder;
  } catch {
    return null;
  }
}

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
