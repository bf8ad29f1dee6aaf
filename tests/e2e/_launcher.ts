import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compiledProgram } from "../helpers/compiled_program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** One way of running the program. */
export interface Launcher {
  readonly name: "source" | "compiled";
  /** What comes before the arguments of a user. */
  readonly argv: readonly [string, ...string[]];
  /** What this way needs besides the environment of a user. */
  readonly env: Readonly<Record<string, string>>;
  /** Why the suite cannot run this way, "" where it can. */
  readonly missing: string;
  /** Once, before the first launch; called again it does nothing. */
  ready(): Promise<void>;
}

async function textOf(args: readonly string[]): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd: ROOT, stdin: "null" }).output();
  return new TextDecoder().decode(stdout);
}

/** `bin/vis` on this Deno and its cache of packages, so that an empty home needs no registry. */
export async function sourceLauncher(): Promise<Launcher> {
  const { denoDir } = JSON.parse(await textOf(["info", "--json"]));
  const program = join(ROOT, "bin/vis");
  const env = { PATH: `${dirname(Deno.execPath())}:/usr/bin:/bin`, DENO_DIR: denoDir };
  return {
    name: "source",
    argv: [program],
    env,
    missing: "",
    // The first launch after a change builds the sandbox, and says so.
    ready: once(async () => {
      const { code, stderr } = await new Deno.Command(program, { args: ["version"], clearEnv: true, env }).output();
      if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    }),
  };
}

/** The executable, made once for all tests of this checkout. */
export async function compiledLauncher(): Promise<Launcher> {
  const { path, missing, ready } = await compiledProgram();
  return { name: "compiled", argv: [path], env: { PATH: "/usr/bin:/bin" }, missing, ready: once(ready) };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => done ??= work();
}
