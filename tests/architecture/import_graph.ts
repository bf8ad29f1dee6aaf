import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Import } from "./broken_rule.ts";

interface Target {
  readonly specifier?: string;
}
interface GraphModule {
  readonly specifier: string;
  readonly error?: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly code?: Target;
    readonly type?: Target;
  }[];
}

/** Returns the files at and below `folder` (relative to `root`, with a slash at its end); empty if it does not exist. */
export async function filesOf(root: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  const entries = await Array.fromAsync(Deno.readDir(join(root, folder))).catch(() => []);
  for (const { name, isDirectory } of entries) {
    const path = `${folder}${name}`;
    if (isDirectory) found.push(...await filesOf(root, `${path}/`));
    else found.push(path);
  }
  return found.sort();
}

export async function sourcesOf(root: string, folder: string): Promise<string[]> {
  return (await filesOf(root, folder)).filter((path) => /\.tsx?$/.test(path));
}

async function readGraph(root: string, entry: string): Promise<GraphModule[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-lock", "--config", join(root, "deno.json"), entry],
    cwd: root,
    stdin: "null",
  }).output();
  if (!success) throw new Error(`Cannot read the module graph: ${new TextDecoder().decode(stderr)}`);
  return (JSON.parse(new TextDecoder().decode(stdout)) as { modules: GraphModule[] }).modules;
}

export interface ImportGraph {
  readonly imports: readonly Import[];
  readonly unreadable: readonly string[];
}

/** Returns every import among `files` of the checkout at `root`, type imports included, from Deno's own module graph. */
export async function importGraph(root: string, files: readonly string[]): Promise<ImportGraph> {
  const folder = await Deno.makeTempDir({ prefix: "vis-graph-" });
  const home = pathToFileURL(join(root, "/")).href;
  const entry = join(folder, "all.ts");
  try {
    await Deno.writeTextFile(entry, files.map((file) => `import ${JSON.stringify(home + file)};\n`).join(""));
    const modules = (await readGraph(root, entry)).filter(({ specifier }) => specifier.startsWith(home));
    const short = (url: string): string => url.startsWith(home) ? url.slice(home.length) : url;
    const imports = modules.flatMap(({ specifier, dependencies = [] }) =>
      dependencies.map(({ code, type, specifier: written }): Import => ({
        from: short(specifier),
        to: short(code?.specifier ?? type?.specifier ?? written),
        type: code === undefined,
      }))
    );
    return { imports, unreadable: modules.filter(({ error }) => error).map(({ specifier }) => short(specifier)) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
