import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { baseRuntime } from "../helpers/base_runtime.ts";

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

/** Set once the executable of this test run is made; files of tests are threads of one process and share it. */
const MADE = "VIS_E2E_EXECUTABLE_MADE";

/** The executable, made once for the whole run in a folder of its own. */
export async function compiledLauncher(): Promise<Launcher> {
  const runtime = await baseRuntime();
  const output = join(ROOT, "dist/e2e/vis");
  return {
    name: "compiled",
    argv: [output],
    env: { PATH: "/usr/bin:/bin" },
    missing: runtime.ok ? "" : runtime.reason,
    ready: once(async () => {
      await Deno.mkdir(dirname(output), { recursive: true });
      using lock = await Deno.open(`${output}.lock`, { create: true, write: true });
      await lock.lock(true);
      if (Deno.env.get(MADE) === output) return;
      const args = ["run", "-A", join(ROOT, "scripts/compile.ts"), "--output", output];
      const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env: { ...runtime.env } })
        .output();
      if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
      Deno.env.set(MADE, output);
    }),
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => done ??= work();
}
