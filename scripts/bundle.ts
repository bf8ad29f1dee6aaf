/** A confined worker cannot read files, and the analysis of an unbundled child's modules would slow every start. The
 * sandbox therefore runs self-contained bundles. */
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

export const CACHE_MAKER = "build/code_cache";

export const PAGE_FOLDER = "build/page";
export const PAGE_SCRIPT = `${PAGE_FOLDER}/app.js`;
export const PAGE_ENTRY = "src/page/app.tsx";

/** Vis evaluates these files as scripts, each of which is a function of `require`. */
export const SANDBOX_SCRIPTS: readonly string[] = ["blocks.js", "compiler.js", "sucrase.js"];

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
  // Minifying halves the text that each start parses. Names that a block or a message shows are therefore explicit,
  // never inferred from the code.
  const isScript = SANDBOX_SCRIPTS.includes(basename(output));
  const format = isScript ? "cjs" : "esm";
  await bundle(entry, ["--format", format, "-o", output]);
  if (isScript) await Deno.writeTextFile(output, `(require) => {${await Deno.readTextFile(output)}\n}`);
}

async function bundlePage(fresh: string): Promise<void> {
  await bundle(PAGE_ENTRY, ["--platform", "browser", "--code-splitting", "--outdir", fresh]);
  const output = join(ROOT, PAGE_FOLDER);
  const names = await Array.fromAsync(Deno.readDir(fresh), ({ name }) => name);
  for (const name of names) await replace(join(fresh, name), join(output, name));
  for await (const { name } of Deno.readDir(output)) {
    if (!names.includes(name)) await Deno.remove(join(output, name));
  }
}

async function makeCodeCaches(folder: string): Promise<void> {
  await bundle("scripts/_code_cache_main.ts", ["-o", join(ROOT, CACHE_MAKER, "main.js")]);
  // V8 refuses a cache of a process that had other flags.
  const flags = [`--v8-flags=${CHILD_V8_FLAGS.join(",")}`];
  const { code, stderr } = await run(["run", "-A", "--no-config", ...flags, `${CACHE_MAKER}/main.js`, folder], {
    cwd: ROOT,
  });
  if (code !== 0) throw new Error(`Cannot make code caches: ${stderr.trim()}`);
}

/** A script must not be next to the cache of another version, so the old caches go first. */
async function replaceSandbox(fresh: string): Promise<void> {
  const output = join(ROOT, "build/sandbox");
  const caches = SANDBOX_SCRIPTS.map((file) => file.replace(/\.js$/, ".cache"));
  for (const cache of caches) await Deno.remove(join(output, cache)).catch(() => {});
  for (const file of Object.keys(SANDBOX_ENTRIES)) await replace(join(fresh, file), join(output, file));
  for (const cache of caches) await Deno.rename(join(fresh, cache), join(output, cache));
}

async function replace(fresh: string, output: string): Promise<void> {
  if (!await sameBytes(fresh, output)) await Deno.rename(fresh, output);
}

async function stampTime(): Promise<number> {
  return await Deno.stat(join(ROOT, STAMP)).then((info) => info.mtime?.getTime() ?? 0, () => 0);
}

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

export async function bundleStale(): Promise<void> {
  if (await isStale()) await bundleAll();
}

export async function bundleAll(): Promise<void> {
  const asked = Date.now();
  for (const folder of ["build/sandbox", PAGE_FOLDER]) await Deno.mkdir(join(ROOT, folder), { recursive: true });
  using lock = await Deno.open(join(ROOT, "build/.lock"), { create: true, write: true });
  await lock.lock(true);
  if (await stampTime() >= asked) return;
  const fresh = await Deno.makeTempDir({ dir: join(ROOT, "build"), prefix: ".new-" });
  try {
    await Deno.writeTextFile(join(fresh, "stamp"), "");
    // With an empty cache, two bundlers at once would unpack the same files over each other.
    for (const [file, entry] of Object.entries(SANDBOX_ENTRIES)) await bundleFile(entry, join(fresh, file));
    await makeCodeCaches(fresh);
    await bundlePage(join(fresh, "page"));
    await replaceSandbox(fresh);
    await Deno.rename(join(fresh, "stamp"), join(ROOT, STAMP));
  } finally {
    await Deno.remove(fresh, { recursive: true });
  }
}

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
