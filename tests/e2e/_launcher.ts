import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compiledProgram } from "../helpers/compiled_program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Launcher {
  readonly name: "source" | "compiled";
  /** The words before the arguments of a user. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** The reason why the suite cannot run this way; empty if it can. */
  readonly missing: string;
  /** Builds the program before the first launch. Later calls have no effect. */
  ready(): Promise<void>;
}

async function textOf(args: readonly string[]): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd: ROOT, stdin: "null" }).output();
  return new TextDecoder().decode(stdout);
}

/** Launches `bin/vis` on this Deno and its cache of packages, so that an empty home needs no registry. */
export async function sourceLauncher(): Promise<Launcher> {
  const { denoDir } = JSON.parse(await textOf(["info", "--json"]));
  const program = join(ROOT, "bin/vis");
  const env = { PATH: `${dirname(Deno.execPath())}:/usr/bin:/bin`, DENO_DIR: denoDir };
  return {
    name: "source",
    argv: [program],
    env,
    missing: "",
    // The first launch after a change builds the sandbox, and prints a note about it.
    ready: once(async () => {
      const { code, stderr } = await new Deno.Command(program, { args: ["version"], clearEnv: true, env }).output();
      if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    }),
  };
}

export async function compiledLauncher(options?: Parameters<typeof compiledProgram>[0]): Promise<Launcher> {
  const { path, missing, ready } = await compiledProgram(options);
  return { name: "compiled", argv: [path], env: { PATH: "/usr/bin:/bin" }, missing, ready: once(ready) };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => done ??= work();
}
