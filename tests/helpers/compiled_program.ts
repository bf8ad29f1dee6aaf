import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { baseRuntime } from "./base_runtime.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OUTPUT = "dist/attacks/vis";
/** The sources of the executable, besides packages. */
const SOURCES = ["src", "extensions", "scripts", "migrations"];

export interface CompiledProgram {
  readonly path: string;
  /** Why there is no executable; "" if there is one. */
  readonly missing: string;
  /** Builds the executable if a source is newer. Call it before the first use. */
  ready(): Promise<void>;
}

/** The executable, for tests of its parts; tests of its commands are in tests/e2e. */
export async function compiledProgram(): Promise<CompiledProgram> {
  const runtime = await baseRuntime();
  const path = join(ROOT, OUTPUT);
  return {
    path,
    missing: runtime.ok ? "" : runtime.reason,
    ready: async () => {
      if (await isCurrent(path)) return;
      const args = ["run", "-A", join(ROOT, "scripts/compile.ts"), "--output", OUTPUT];
      const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env: { ...runtime.env } });
      const { code, stderr } = await command.output();
      if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    },
  };
}

async function isCurrent(path: string): Promise<boolean> {
  try {
    const made = (await Deno.stat(path)).mtime?.getTime() ?? 0;
    for (const folder of SOURCES) if (await newest(join(ROOT, folder)) >= made) return false;
    return true;
  } catch {
    return false;
  }
}

async function newest(folder: string): Promise<number> {
  let time = (await Deno.stat(folder)).mtime?.getTime() ?? 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    time = Math.max(time, isDirectory ? await newest(path) : (await Deno.stat(path)).mtime?.getTime() ?? 0);
  }
  return time;
}
