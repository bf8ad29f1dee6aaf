/** Hidden first argument that makes the executable a sandbox child (src/app.ts). */
export const CHILD_ARGUMENT = "__sandbox_child";

export interface ChildProgram {
  readonly path: string;
  readonly args: readonly string[];
  /** Added to the child's own environment; tests of other programs. */
  readonly env?: Readonly<Record<string, string>>;
}

const ENVIRONMENT = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", TZ: "UTC" };

/** Contains nothing from this process: no path, no key, no locale. A folder below a device cannot be created, which
 * prevents a Deno cache. Sockets and random numbers of Windows need its folder. */
export function childEnvironment(os: typeof Deno.build.os): Readonly<Record<string, string>> {
  return os === "windows"
    ? { ...ENVIRONMENT, DENO_DIR: "\\\\.\\NUL\\deno", SystemRoot: "C:\\Windows" }
    : { ...ENVIRONMENT, DENO_DIR: "/dev/null/deno" };
}

/** Starts the process of a child in its folder. */
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

/** A process that waits for the setup of a child, in its folder. */
export interface FirstChild {
  readonly process: Deno.ChildProcess;
  readonly folder: string;
}

export const FOLDER_PREFIX = "vis-sandbox-";
/** The entry of the executable and the program have a copy of this file each. */
const PLACE = Symbol.for("vis.firstChild");

/** Keeps the child that was started before the program, for the first sandbox. */
export function keepFirstChild(child: FirstChild): void {
  Reflect.set(globalThis, PLACE, child);
}

/** The first child, once; null if there is none. */
export function takeFirstChild(): FirstChild | null {
  const child: FirstChild | undefined = Reflect.get(globalThis, PLACE);
  Reflect.deleteProperty(globalThis, PLACE);
  return child ?? null;
}

/** Ends the first child if nobody has taken it. */
export function endFirstChild(): void {
  const child = takeFirstChild();
  if (child === null) return;
  try {
    child.process.kill("SIGKILL");
    Deno.removeSync(child.folder);
  } catch { /* it has ended, or a later start sweeps the folder */ }
}
