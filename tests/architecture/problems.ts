import { join } from "node:path";
import { brokenRule, packageOf } from "./broken_rule.ts";
import { filesOf, importGraph, sourcesOf } from "./import_graph.ts";
import { OWNERS, SHARED } from "./layers.ts";

const MAX_LINES = 300;
const MAX_FOLDERS = 4;
const MAX_FILES = 25;

/** Imports that a rank, a wall, a door or an owner forbids, and imports of files that are not there. */
export async function importProblems(root: string): Promise<string[]> {
  const files = [...await sourcesOf(root, "src/"), ...await sourcesOf(root, "extensions/")];
  const { imports, unreadable } = await importGraph(root, files);
  const problems = imports.flatMap((one) => {
    const rule = brokenRule(one);
    return rule ? [`${one.from} -> ${one.to}: ${rule}`] : [];
  });
  return [...problems, ...sharedPackages(imports), ...unreadable.map((path) => `${path} cannot be read`)];
}

/** Packages without a named owner that more than one folder of src/ imports. Extensions bring what they need. */
function sharedPackages(imports: readonly { readonly from: string; readonly to: string }[]): string[] {
  const users = new Map<string, Set<string>>();
  for (const { from, to } of imports.filter((one) => one.from.startsWith("src/"))) {
    const name = packageOf(to);
    if (name === undefined || name.startsWith("node:") || SHARED.includes(name) || name in OWNERS) continue;
    users.set(name, (users.get(name) ?? new Set()).add(from.split("/").slice(0, 2).join("/")));
  }
  return [...users].flatMap(([name, folders]) =>
    folders.size > 1 ? [`"${name}" has ${folders.size} owners: ${[...folders].join(", ")}`] : []
  );
}

/** Files over the limit of lines, folders over the limit of depth, counted from the root of the repository. */
export async function shapeProblems(root: string): Promise<string[]> {
  const problems: string[] = [];
  for (const folder of ["src/", "extensions/", "scripts/", "tests/", "bench/"]) {
    for (const path of await sourcesOf(root, folder)) {
      const lines = (await Deno.readTextFile(join(root, path))).trimEnd().split("\n").length;
      if (lines > MAX_LINES) problems.push(`${path} has ${lines} lines: the limit is ${MAX_LINES}`);
      const folders = path.split("/").length - 1;
      if (folders > MAX_FOLDERS) problems.push(`${path} is ${folders} folders deep: the limit is ${MAX_FOLDERS}`);
    }
    problems.push(...crowdedFolders(await filesOf(root, folder)));
  }
  return problems;
}

/** Folders with more files than the limit, counting files of every kind. */
function crowdedFolders(files: readonly string[]): string[] {
  return [...Map.groupBy(files, (path) => path.slice(0, path.lastIndexOf("/") + 1))].flatMap(([folder, { length }]) =>
    length > MAX_FILES ? [`${folder} has ${length} files: the limit is ${MAX_FILES}`] : []
  );
}
