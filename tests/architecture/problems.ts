import { brokenRule, packageOf } from "./broken_rule.ts";
import { importGraph, sourcesOf } from "./import_graph.ts";
import { OWNERS, SHARED } from "./layers.ts";

/** Returns the imports that a rank, a wall, a door or an owner forbids, circles of files, and imports of missing
 * files. */
export async function importProblems(root: string): Promise<string[]> {
  const files = [...await sourcesOf(root, "src/"), ...await sourcesOf(root, "extensions/")];
  const { imports, unreadable } = await importGraph(root, files);
  const problems = imports.flatMap((one) => {
    const rule = brokenRule(one);
    return rule ? [`${one.from} -> ${one.to}: ${rule}`] : [];
  });
  return [
    ...problems,
    ...circles(imports),
    ...sharedPackages(imports),
    ...unreadable.map((path) => `${path} cannot be read`),
  ];
}

/** Returns one problem for each circle, with its files. Types and lazy imports count. */
function circles(imports: readonly { readonly from: string; readonly to: string }[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...targets.get(from) ?? [], to]);
  const path: string[] = [];
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) return void found.push(`${[...path.slice(at), file].join(" -> ")}: a circle of files`);
    if (done.has(file)) return;
    path.push(file);
    for (const to of targets.get(file) ?? []) visit(to);
    path.pop();
    done.add(file);
  };
  for (const file of targets.keys()) visit(file);
  return found;
}

/** Returns the packages without a named owner that several folders of src/ import. Extensions bring their own
 * packages. */
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
