/** `deno task compile [--target <triple>] [--output <path>] [--quick]` makes the executable in two steps. `deno bundle`
 * turns the program into plain JavaScript, and `deno compile` embeds the JavaScript. With whole npm packages, the
 * executable would be larger and would start more slowly.
 *
 * `import.meta.url` of each module refers to one folder, so all files of the bundle are in this folder.
 *
 * `--quick` skips work that only makes the executable smaller. Tests without their long part use such an executable.
 *
 * DENO_COMPILE selects another Deno for the second step. Deno's own variable DENORT_BIN selects a base runtime.
 * DENORT_DIR is a folder of base runtimes, each named denort-<target>. */
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { constants, zstdCompressSync } from "node:zlib";
import { CHILD_ARGUMENT } from "../src/sandbox/launch.ts";
import { ROOT } from "./_project.ts";
import { run } from "./_run.ts";
import { baseRuntimeFor } from "./base_runtime_for.ts";
import { bundleAll, bundleStale, CACHE_MAKER, PAGE_FOLDER, SANDBOX_SCRIPTS } from "./bundle.ts";
import { compact, compactModule } from "./compact.ts";
import { type AttachedFiles, attachFiles, joinedFiles } from "./executable/attach_files.ts";
import { moduleScript } from "./executable/module_script.ts";
import { packProgram } from "./executable/pack_program.ts";
import type { Attached } from "./executable/part_files.ts";
import { COMPILED_HEAP_MIB, PERMISSIONS, V8_FLAGS } from "./flags.ts";
import { namePackages } from "./name_packages.ts";

export interface CompileOptions {
  readonly output?: string;
  readonly target?: string | undefined;
  readonly quick?: boolean | undefined;
  readonly release?: ReleaseSource | undefined;
}

export interface ReleaseSource {
  readonly from: string;
  readonly publicKey: string;
}

const BUNDLE = "build/compile";
const SEARCH_WORKER = "extensions/fs/search/search_worker.ts";

async function step(what: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(args, { cwd: ROOT });
  if (code !== 0) throw new Error(`Cannot ${what}: ${stderr.trim()}`);
}

/** A child needs neither the program nor Node's globals, and each unnecessary module delays its start. The globals must
 * exist before a module of the program runs. */
const entry = (more: string, attached: Attached | null): string =>
  `const partFiles = async () => {
  const { PartFiles } = await import("./part_files.js");
  return new PartFiles(import.meta.resolve("./"), { attached: ${JSON.stringify(attached)} });
};
if (Deno.args[0] === ${JSON.stringify(CHILD_ARGUMENT)}) {
  const files = await partFiles();
  const { childMain } = await import("./child.js");
  await childMain({ read: (name) => files.read(name), close: () => files.close() });
} else if (Deno.args.length === 1 && ["version", "--version", "-V"].includes(Deno.args[0])) {
  await import("./print_version.js");
} else {
  if (Deno.args[0] === "run") await import("./first_child.js");
  await import("./node_globals.js");
  const { ProgramModules } = await import("./program_modules.js");
  const modules = new ProgramModules(import.meta.resolve("./"), await partFiles());
  ${more}
  await modules.load("./program.js");
}
`;

async function bundleProgram(options: CompileOptions): Promise<{ folder: string; attached: AttachedFiles | null }> {
  await (options.quick ? bundleStale() : bundleAll());
  const folder = join(ROOT, BUNDLE), own = join(ROOT, "build/rehearsal");
  for (const path of [folder, own]) await Deno.remove(path, { recursive: true }).catch(() => {});
  await Deno.mkdir(own, { recursive: true });
  const entryFile = join(own, "program.ts");
  await Deno.writeTextFile(entryFile, 'import "../../main.ts";\n');
  // hono-openapi imports this package only for schemas of zod 3, which Vis does not have.
  const left = ["--external", "zod-to-json-schema"];
  const split = ["bundle", "--quiet", "--code-splitting", ...left, "--outdir", folder, entryFile];
  await step("bundle the program", split);
  const scripts = await takeScripts(folder, options);
  await addParts(folder);
  const runsHere = !options.target || options.target === Deno.build.target;
  if (runsHere) await addCodeCaches(folder);
  await packProgram(folder, {
    scripts,
    own,
    level: options.quick ? 1 : 19,
    writeEntry: (more) => Deno.writeTextFile(join(folder, "main.js"), entry(more, null)),
    embed: runsHere ? (output) => embed(folder, { output }) : null,
  });
  if (!(options.target ?? Deno.build.target).includes("linux")) return { folder, attached: null };
  const attached = joinedFiles(await takeParts(folder));
  await Deno.writeTextFile(join(folder, "main.js"), entry("", attached.place));
  return { folder, attached };
}

/** The main process looks for sucrase.js next to its own modules, so this file stays. */
async function takeParts(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const parts = new Map<string, Uint8Array>();
  for (const { name } of [...Deno.readDirSync(folder)]) {
    const isScript = SANDBOX_SCRIPTS.includes(name) && name !== "sucrase.js";
    if (!isScript && !/\.(?:zst|cache)$/.test(name)) continue;
    parts.set(name, await Deno.readFile(join(folder, name)));
    await Deno.remove(join(folder, name));
  }
  return parts;
}

async function addParts(folder: string): Promise<void> {
  for (const name of ["first_child", "node_globals", "part_files", "print_version", "program_modules"]) {
    const path = join(folder, `${name}.js`);
    await step(`bundle ${name}`, ["bundle", "--quiet", "-o", path, `scripts/executable/${name}.ts`]);
    await Deno.writeTextFile(path, compact(namePackages(await Deno.readTextFile(path))));
  }
  const search = join(folder, "search_worker.js");
  await step("bundle the search", ["bundle", "--quiet", "--minify", "-o", search, SEARCH_WORKER]);
  for (const file of ["child.js", "worker.js", ...SANDBOX_SCRIPTS]) {
    await Deno.copyFile(join(ROOT, "build/sandbox", file), join(folder, file));
  }
  await Deno.mkdir(join(folder, "page"));
  for await (const { name } of Deno.readDir(join(ROOT, PAGE_FOLDER))) {
    const packed = zstdCompressSync(await Deno.readFile(join(ROOT, PAGE_FOLDER, name)), {
      params: { [constants.ZSTD_c_compressionLevel]: 19 },
    });
    await Deno.writeFile(join(folder, "page", `${name}.zst`), packed);
  }
}

async function takeScripts(
  folder: string,
  { release, quick }: CompileOptions,
): Promise<ReadonlyMap<string, string>> {
  const scripts = new Map<string, string>();
  for await (const { name } of Deno.readDir(folder)) {
    const module = withSource(namePackages(await Deno.readTextFile(join(folder, name))), release);
    const { code, program } = quick ? { code: module } : compactModule(module);
    scripts.set(name, moduleScript(name, code, program));
    await Deno.remove(join(folder, name));
  }
  return scripts;
}

export function withSource(code: string, release: ReleaseSource = { from: "", publicKey: "" }): string {
  const { from, publicKey } = release;
  for (const text of [from, publicKey]) {
    if (!/^[\w\-.~:/?#[\]@!$&()*+,;=%]*$/.test(text)) throw new Error(`Cannot fill in ${text}: it is not plain text`);
  }
  return code.replaceAll("@RELEASE_URL@", () => from).replaceAll("@RELEASE_KEY@", () => publicKey);
}

/** Only the embedded runtime can make its code caches, so an executable for another platform has none and starts more
 * slowly. */
async function addCodeCaches(folder: string): Promise<void> {
  const output = join(ROOT, "build/cache_maker");
  await embed(join(ROOT, CACHE_MAKER), { output });
  const { code, stderr } = await run([folder], { cwd: ROOT, program: output });
  if (code !== 0) throw new Error(`Cannot make code caches: ${stderr.trim()}`);
}

async function embed(folder: string, options: CompileOptions): Promise<void> {
  const program = Deno.env.get("DENO_COMPILE") || Deno.execPath();
  const target = options.target ?? Deno.build.target;
  const runtime = await baseRuntimeFor(target, Deno.env.toObject());
  const env = runtime === null ? {} : { DENORT_BIN: runtime };
  const { code, stderr } = await run(compileArguments(folder, options), { cwd: ROOT, program, env });
  if (code !== 0) throw new Error(compileFailure(stderr, target));
}

export function compileArguments(folder: string, { output = "dist/vis", target }: CompileOptions): string[] {
  const flags = [...V8_FLAGS, `--max-old-space-size=${COMPILED_HEAP_MIB}`];
  return [
    "compile",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--no-npm",
    "--no-prompt",
    // Anyone with the executable can compute the hashes that verify the cache, and its name in the shared temporary
    // folder is guessable. Another user of the machine could therefore place code there.
    "--no-code-cache",
    "--unstable-worker-options",
    // With this flag, the signal of a request aborts when its client disconnects, not when the response is sent.
    "--unstable-no-legacy-abort",
    ...PERMISSIONS,
    `--v8-flags=${flags.join(",")}`,
    ...(target ? ["--target", target] : []),
    "--include",
    folder,
    "--output",
    resolve(ROOT, output),
    join(folder, "main.js"),
  ];
}

export function compileFailure(stderr: string, target: string): string {
  const [, others] = /for '--target'[^]*?possible values: ([\w, -]+)/.exec(stderr) ?? [];
  if (others !== undefined) {
    return `Cannot compile for ${target}: the target is unknown; choose one of ${others.replaceAll("]", "").trim()}`;
  }
  if (!/base binary|denort|dl\.deno\.land/.test(stderr)) return `Cannot compile: ${stderr.trim()}`;
  const reason = stderr.split("\n").find((line) => /error sending|status|denied|not found|failed/i.test(line)) ?? "";
  return [
    `Cannot compile for ${target}: the base runtime of deno compile is not available`,
    `  ${reason.trim().replace(/^\d+: /, "")}`,
    "  Set DENORT_BIN to a denort of this target and of the same version as Deno, or DENORT_DIR to a folder with",
    "  denort-<target>, and DENO_COMPILE to a Deno that fits it",
  ].filter((line) => line.trim() !== "").join("\n");
}

export async function compile(options: CompileOptions): Promise<string> {
  // A wrong runtime must fail before the slow bundle.
  await baseRuntimeFor(options.target ?? Deno.build.target, Deno.env.toObject());
  await Deno.mkdir(join(ROOT, "build"), { recursive: true });
  using lock = await Deno.open(join(ROOT, "build/.compile-lock"), { create: true, write: true });
  await lock.lock(true);
  const { folder, attached } = await bundleProgram(options);
  const output = resolve(ROOT, options.output ?? "dist/vis");
  await Deno.mkdir(dirname(output), { recursive: true });
  await embed(folder, options);
  if (attached) await attachFiles(output, attached);
  return output;
}

export async function embedEmpty(options: CompileOptions & { readonly output: string }): Promise<string> {
  const folder = join(ROOT, "build/empty");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "main.js"), "");
  await embed(folder, options);
  return resolve(ROOT, options.output);
}

if (import.meta.main) {
  try {
    const { values: { output: path, ...options } } = parseArgs({
      options: { target: { type: "string" }, output: { type: "string", short: "o" }, quick: { type: "boolean" } },
    });
    const output = await compile(path ? { ...options, output: path } : options);
    const file = await Deno.stat(output).catch(() => Deno.stat(`${output}.exe`));
    console.log(`${dirname(output)}/${basename(output)}  ${(file.size / 1e6).toFixed(1)} MB`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
