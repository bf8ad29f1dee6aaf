/** Reads programs of a folder: a checkout of test262, or any files of JavaScript and TypeScript. */
import { extname, join, relative } from "node:path";
import type { Program } from "./program.ts";
import { Harness, headerOf, skippedFor } from "./test262.ts";

export interface FolderOptions {
  readonly only: string;
  readonly limit: number;
}

export interface FolderPrograms {
  readonly programs: readonly Program[];
  readonly skipped: Readonly<Record<string, number>>;
}

const LANGUAGES: Readonly<Record<string, Program["language"]>> = {
  ".js": "js",
  ".mjs": "js",
  ".ts": "ts",
  ".mts": "ts",
};
const OTHER_FOLDERS = new Set(["node_modules", "harness", ".git"]);

export async function readFolder(root: string, { only, limit }: FolderOptions): Promise<FolderPrograms> {
  const isSuite = await Deno.stat(join(root, "harness", "assert.js")).then(() => true, () => false);
  const harness = isSuite ? new Harness(root) : null;
  const wanted = (await filesBelow(isSuite ? join(root, "test") : root)).filter((path) =>
    relative(root, path).includes(only)
  );
  const programs: Program[] = [], skipped: Record<string, number> = {};
  for (const path of spread(wanted, limit)) {
    const found = programOf(await Deno.readTextFile(path), { path, root, harness });
    if (typeof found === "string") skipped[found] = (skipped[found] ?? 0) + 1;
    else programs.push(found);
  }
  return { programs, skipped };
}

interface Place {
  readonly path: string;
  readonly root: string;
  readonly harness: Harness | null;
}

function programOf(text: string, { path, root, harness }: Place): Program | string {
  const name = relative(root, path), language = LANGUAGES[extname(path)] ?? "js";
  if (name.includes("_FIXTURE")) return "parts of other tests";
  // Both runs share one console, because each prints objects in its own form.
  if (!harness) return { name, language, text: `const console = $console;\n${text}` };
  const header = headerOf(text);
  if (!header) return "no header";
  return skippedFor(text, header) ?? harness.program(name, text, header);
}

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    if (isDirectory && !OTHER_FOLDERS.has(name)) found.push(...await filesBelow(join(folder, name)));
    else if (isFile && extname(name) in LANGUAGES && !name.endsWith(".d.ts")) found.push(join(folder, name));
  }
  return found.sort();
}

export function spread<T>(all: readonly T[], limit: number): readonly T[] {
  if (all.length <= limit) return all;
  return Array.from({ length: limit }, (_, i) => all[Math.floor(i * all.length / limit)]).flatMap((one) =>
    one === undefined ? [] : [one]
  );
}
