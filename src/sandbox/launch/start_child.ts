/** Hidden first argument that makes the executable a sandbox child (src/app.ts). */
export const CHILD_ARGUMENT = "__sandbox_child";

export interface ChildProgram {
  readonly path: string;
  readonly args: readonly string[];
  /** Added to the child's own environment; tests of other programs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Contains nothing from this process: no path, no key, no locale. A folder that cannot be created prevents a Deno
 * cache. */
const ENVIRONMENT = { DENO_DIR: "/dev/null/deno", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", TZ: "UTC" };

/** Starts the process of a child in its folder. */
export function startChild({ path, args, env }: ChildProgram, folder: string): Deno.ChildProcess {
  return new Deno.Command(path, {
    args: [...args],
    cwd: folder,
    clearEnv: true,
    env: { ...ENVIRONMENT, ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
