import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { baseRuntime } from "./base_runtime.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OUTPUT = "dist/tests/vis", QUICK_OUTPUT = "dist/tests/quick/vis";
const SOURCES = ["src", "extensions", "scripts", "migrations", "main.ts", "deno.json", "deno.lock"];

export interface CompiledProgram {
  readonly path: string;
  readonly missing: string;
  ready(): Promise<void>;
}

/** All tests share the executable. With `quick`, the executable is larger, but its build takes half of the processor
 * time. */
export async function compiledProgram({ quick = false }: { readonly quick?: boolean } = {}): Promise<CompiledProgram> {
  const runtime = await baseRuntime();
  const output = quick ? QUICK_OUTPUT : OUTPUT;
  const path = join(ROOT, output);
  return {
    path,
    missing: runtime.ok ? "" : runtime.reason,
    ready: async () => {
      await Deno.mkdir(dirname(path), { recursive: true });
      using lock = await Deno.open(`${path}.lock`, { create: true, write: true });
      await lock.lock(true);
      if (await isCurrent(path)) return;
      const args = ["run", "-A", join(ROOT, "scripts/compile.ts"), "--output", output, ...quick ? ["--quick"] : []];
      const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env: { ...runtime.env } });
      const { code, stderr } = await command.output();
      if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    },
  };
}

async function isCurrent(path: string): Promise<boolean> {
  try {
    const made = (await Deno.stat(path)).mtime?.getTime() ?? 0;
    for (const name of SOURCES) if (await newest(join(ROOT, name)) >= made) return false;
    return true;
  } catch {
    return false;
  }
}

async function newest(path: string): Promise<number> {
  const { isDirectory, mtime } = await Deno.stat(path);
  let time = mtime?.getTime() ?? 0;
  if (!isDirectory) return time;
  for await (const { name } of Deno.readDir(path)) time = Math.max(time, await newest(join(path, name)));
  return time;
}
