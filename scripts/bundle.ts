/** `deno task build` bundles the sandbox's child and its worker, each into one self-contained file, and the page. The
 * confined worker cannot read files, and analysing the modules of an unbundled child costs 60 ms at every start. */
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { CHILD_V8_FLAGS } from "../src/sandbox/launch.ts";
import { ROOT } from "./_project.ts";
import { run } from "./_run.ts";

export const SANDBOX_ENTRIES: Readonly<Record<string, string>> = {
  "child.js": "src/sandbox/child/main.ts",
  "worker.js": "src/sandbox/child/worker.ts",
  "blocks.js": "src/sandbox/child/blocks/blocks_script.ts",
  "compiler.js": "src/sandbox/child/compiler/compiler_script.ts",
  "sucrase.js": "src/sandbox/child/compiler/sucrase.ts",
};

/** The program that stores V8's code cache of each script next to it, given the folder of the sandbox's scripts. */
export const CACHE_MAKER = "build/code_cache";

export const PAGE_FOLDER = "build/page";
export const PAGE_SCRIPT = `${PAGE_FOLDER}/app.js`;
export const PAGE_ENTRY = "src/page/app.tsx";

/** These files are evaluated as scripts, and each is one function of `require` (child/scripts.ts). */
export const SANDBOX_SCRIPTS: readonly string[] = ["blocks.js", "compiler.js", "sucrase.js"];

/** A file whose time is just before the sources were read. `bin/vis` rebuilds when a source is newer. */
const STAMP = "build/sandbox/.stamp";
const SOURCES = [
  "src/sandbox",
  "src/domain",
  "src/markdown",
  "src/page",
  "scripts",
  "bin/deno",
  "deno.json",
  "deno.lock",
];

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function sameBytes(a: string, b: string): Promise<boolean> {
  if (!await exists(b)) return false;
  const [one, other] = await Promise.all([Deno.readFile(a), Deno.readFile(b)]);
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

async function bundle(entry: string, options: readonly string[]): Promise<void> {
  const { code, stderr } = await run(["bundle", "--quiet", "--minify", ...options, entry], { cwd: ROOT });
  if (code !== 0) throw new Error(`Cannot bundle ${entry}: ${stderr.trim()}`);
}

async function bundleFile(entry: string, output: string): Promise<void> {
  // Minifying halves the text to parse at every start. Names that a block or a message shows are therefore set
  // explicitly, never inferred.
  const isScript = SANDBOX_SCRIPTS.includes(basename(output));
  const format = isScript ? "cjs" : "esm";
  await bundle(entry, ["--format", format, "-o", output]);
  if (isScript) await Deno.writeTextFile(output, `(require) => {${await Deno.readTextFile(output)}\n}`);
}

/** Bundles the page into `fresh`, and replaces the previous build. Parts that are loaded later have their own files. */
async function bundlePage(fresh: string): Promise<void> {
  await bundle(PAGE_ENTRY, ["--platform", "browser", "--code-splitting", "--outdir", fresh]);
  const output = join(ROOT, PAGE_FOLDER);
  const names = await Array.fromAsync(Deno.readDir(fresh), ({ name }) => name);
  for (const name of names) await replace(join(fresh, name), join(output, name));
  for await (const { name } of Deno.readDir(output)) {
    if (!names.includes(name)) await Deno.remove(join(output, name));
  }
}

/** Stores V8's code caches next to the sandbox's scripts, which saves a fifth of the cost of starting a child. */
async function makeCodeCaches(folder: string): Promise<void> {
  await bundle("scripts/_code_cache_main.ts", ["-o", join(ROOT, CACHE_MAKER, "main.js")]);
  // V8 accepts no cache that was made with other flags.
  const flags = [`--v8-flags=${CHILD_V8_FLAGS.join(",")}`];
  const { code, stderr } = await run(["run", "-A", "--no-config", ...flags, `${CACHE_MAKER}/main.js`, folder], {
    cwd: ROOT,
  });
  if (code !== 0) throw new Error(`Cannot make code caches: ${stderr.trim()}`);
}

/** Replaces the bundles of the sandbox. A script is never next to the cache of another one. */
async function replaceSandbox(fresh: string): Promise<void> {
  const output = join(ROOT, "build/sandbox");
  const caches = SANDBOX_SCRIPTS.map((file) => file.replace(/\.js$/, ".cache"));
  for (const cache of caches) await Deno.remove(join(output, cache)).catch(() => {});
  for (const file of Object.keys(SANDBOX_ENTRIES)) await replace(join(fresh, file), join(output, file));
  for (const cache of caches) await Deno.rename(join(fresh, cache), join(output, cache));
}

/** Replaces a file by renaming, so that a reader sees either the old or the new file. Leaves an equal file
 * unchanged. */
async function replace(fresh: string, output: string): Promise<void> {
  if (!await sameBytes(fresh, output)) await Deno.rename(fresh, output);
}

async function stampTime(): Promise<number> {
  return await Deno.stat(join(ROOT, STAMP)).then((info) => info.mtime?.getTime() ?? 0, () => 0);
}

/** Returns the newest time of a file or of a folder with all below. A folder counts with its own time, which tells that
 * a file was removed. */
async function newestTime(path: string): Promise<number> {
  const { isDirectory, mtime } = await Deno.stat(path);
  let time = mtime?.getTime() ?? 0;
  if (!isDirectory) return time;
  for await (const { name } of Deno.readDir(path)) time = Math.max(time, await newestTime(join(path, name)));
  return time;
}

async function isStale(): Promise<boolean> {
  const outputs = [...Object.keys(SANDBOX_ENTRIES).map((file) => `build/sandbox/${file}`), PAGE_SCRIPT];
  for (const output of outputs) if (!await exists(join(ROOT, output))) return true;
  const built = await stampTime();
  for (const source of SOURCES) if (await newestTime(join(ROOT, source)) >= built) return true;
  return false;
}

/** Builds the bundles if one is missing or a source is newer. */
export async function bundleStale(): Promise<void> {
  if (await isStale()) await bundleAll();
}

/** Builds the bundles of the sandbox and of the page, one build at a time. Skips the build if another process finished
 * a build while this one waited. */
export async function bundleAll(): Promise<void> {
  const asked = Date.now();
  for (const folder of ["build/sandbox", PAGE_FOLDER]) await Deno.mkdir(join(ROOT, folder), { recursive: true });
  using lock = await Deno.open(join(ROOT, "build/.lock"), { create: true, write: true });
  await lock.lock(true);
  if (await stampTime() >= asked) return;
  const fresh = await Deno.makeTempDir({ dir: join(ROOT, "build"), prefix: ".new-" });
  try {
    await Deno.writeTextFile(join(fresh, "stamp"), "");
    // The builds are sequential. With an empty cache, two bundlers would unpack the same files over each other.
    for (const [file, entry] of Object.entries(SANDBOX_ENTRIES)) await bundleFile(entry, join(fresh, file));
    await makeCodeCaches(fresh);
    await bundlePage(join(fresh, "page"));
    await replaceSandbox(fresh);
    await Deno.rename(join(fresh, "stamp"), join(ROOT, STAMP));
  } finally {
    await Deno.remove(fresh, { recursive: true });
  }
}

/** Downloads every package that the program may load, so that later runs need no registry. */
async function fetchPackages(): Promise<void> {
  const { code, stderr } = await run(["cache", "--quiet", "main.ts"], { cwd: ROOT });
  if (code !== 0) throw new Error(`Cannot get the packages of main.ts: ${stderr.trim()}`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { packages: { type: "boolean", default: false } } });
  try {
    if (values.packages) await fetchPackages();
    await bundleAll();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
