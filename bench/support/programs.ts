import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";
import { PERMISSIONS, V8_FLAGS } from "../../scripts/flags.ts";
import { baseRuntime } from "../../tests/helpers/base_runtime.ts";
import { buildSandbox } from "../../tests/helpers/sandbox.ts";

export interface Program {
  readonly way: "source" | "compiled";
  readonly path: string;
  readonly args: readonly string[];
}

export interface Programs {
  readonly all: readonly Program[];
  readonly missing: string;
}

const EXECUTABLE = join(ROOT, "dist/vis");
const SOURCES = ["src", "extensions", "migrations", "scripts", "main.ts", "deno.json"];

export async function findPrograms(): Promise<Programs> {
  const source = await sourceProgram();
  const missing = isFresh() ? "" : await compileIt();
  const compiled: Program = { way: "compiled", path: EXECUTABLE, args: [] };
  return { all: missing === "" ? [source, compiled] : [source], missing };
}

export async function sourceProgram(): Promise<Program> {
  await buildSandbox();
  return { way: "source", path: Deno.execPath(), args: sourceArguments() };
}

function sourceArguments(): string[] {
  const flags = ["--quiet", "--no-prompt", "--config", join(ROOT, "deno.json"), "--unstable-worker-options"];
  return ["run", ...flags, ...PERMISSIONS, `--v8-flags=${V8_FLAGS.join(",")}`, join(ROOT, "main.ts")];
}

async function compileIt(): Promise<string> {
  const runtime = await baseRuntime();
  if (!runtime.ok) return runtime.reason;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--config", join(ROOT, "deno.json"), join(ROOT, "scripts/compile.ts")],
    env: { ...runtime.env, NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return success ? "" : new TextDecoder().decode(stderr).split("\n")[0] || "it could not be compiled";
}

function isFresh(): boolean {
  const made = changed(EXECUTABLE);
  return made > 0 && SOURCES.every((path) => newest(join(ROOT, path)) <= made);
}

function newest(path: string): number {
  if (!Deno.statSync(path).isDirectory) return changed(path);
  return Math.max(0, ...Array.from(Deno.readDirSync(path), ({ name }) => newest(join(path, name))));
}

function changed(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch {
    return 0;
  }
}
