import { createHash } from "node:crypto";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../_project.ts";
import { run } from "../_run.ts";

const ENTRY = "src/extension/mod.ts";
export const EXTENSION_TYPES = "docs/generated/vis-extension.d.ts";
/** These tools look for packages in node_modules, so they run from their own folder. */
const TOOLS = ["typescript@5.9.3", "dts-bundle-generator@9.5.1", "zod@4.6.7"];
const IMPORT = /(?:from|import)\s+"(\.[^"]+\.ts)"/g;

export async function typesHeading(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of await sourcesOf(ENTRY)) hash.update(`${path}\n${await Deno.readTextFile(join(ROOT, path))}`);
  return `// Types of @vis/extension, written by scripts/generate/extension_types.ts. Sources: ${hash.digest("hex")}\n`;
}

async function sourcesOf(entry: string, found = new Set<string>()): Promise<readonly string[]> {
  if (found.has(entry)) return [];
  found.add(entry);
  for (const [, path = ""] of (await Deno.readTextFile(join(ROOT, entry))).matchAll(IMPORT)) {
    await sourcesOf(relative(ROOT, join(ROOT, dirname(entry), path)), found);
  }
  return [...found].sort();
}

const options = {
  strict: true,
  target: "esnext",
  module: "esnext",
  moduleResolution: "bundler",
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true,
  noCheck: true,
  skipLibCheck: true,
  lib: ["esnext", "dom"],
  types: [],
};

async function write(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "vis-types-" });
  const step = async (program: string, args: readonly string[]): Promise<void> => {
    const { code, stderr } = await run(args, { cwd: folder, program });
    if (code !== 0) throw new Error(`Cannot write ${EXTENSION_TYPES}: ${program} ${args[0]}: ${stderr}`);
  };
  try {
    await Deno.writeTextFile(join(folder, "package.json"), "{}");
    await step("npm", ["install", "--silent", "--no-audit", "--no-fund", ...TOOLS]);
    for (const path of await sourcesOf(ENTRY)) {
      await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
      await Deno.copyFile(join(ROOT, path), join(folder, path));
    }
    const emit = { declaration: true, emitDeclarationOnly: true, outDir: "types", rootDir: "." };
    await Deno.writeTextFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, ...emit }, files: [ENTRY] }),
    );
    await step("node_modules/.bin/tsc", ["-p", "tsconfig.json"]);
    const declared = `types/${ENTRY.replace(/\.ts$/, ".d.ts")}`;
    const { rewriteRelativeImportExtensions: _, ...plain } = options;
    await Deno.writeTextFile(
      join(folder, "bundle.json"),
      JSON.stringify({ compilerOptions: { ...plain, noEmit: true }, files: [declared] }),
    );
    const bundle = ["--project", "bundle.json", "--no-check", "--no-banner", "--external-imports=zod"];
    await step("node_modules/.bin/dts-bundle-generator", [...bundle, "-o", "out.d.ts", declared]);
    const text = (await Deno.readTextFile(join(folder, "out.d.ts"))).replaceAll("\t", "  ");
    await Deno.writeTextFile(join(ROOT, EXTENSION_TYPES), await typesHeading() + text.replace(/^\s*/, ""));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const path = fileURLToPath(import.meta.resolve(`../../${EXTENSION_TYPES}`));
  const heading = await typesHeading();
  const isCurrent = await Deno.readTextFile(path).then((text) => text.startsWith(heading), () => false);
  if (!isCurrent) await write();
}
