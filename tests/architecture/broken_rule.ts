import { DOORS, OWNERS, RANK, WALLS } from "./layers.ts";

/** Paths are relative to the root of the repository. Packages are "npm:name" or "node:name". */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly type: boolean;
}

const SHIPPED_INDEX = "extensions/index.ts";

/** Returns the folder of src/ that contains a file: "query" for "src/query/run_query.ts", "app" for "src/app.ts". */
export function folderOf(path: string): string {
  return (path.split("/")[1] ?? "").replace(/\.ts$/, "");
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** "npm:@hono/x@1.2/y" is "@hono/x", and "node:fs/promises" is "node:fs". Returns undefined for a file. */
export function packageOf(to: string): string | undefined {
  if (to.startsWith("node:")) return to.split("/")[0];
  return /^npm:\/?((?:@[^/@]+\/)?[^/@]+)/.exec(to)?.[1];
}

function brokenOwner({ from, to }: Import): string | undefined {
  const name = packageOf(to);
  if (name === undefined) return undefined;
  for (const [owned, owner] of Object.entries(OWNERS)) {
    if ((name === owned || (owned.endsWith("/") && name.startsWith(owned))) && !from.startsWith(owner)) {
      return `only ${owner} may import "${name}"`;
    }
  }
  return undefined;
}

function isOneOf(doors: readonly string[], path: string): boolean {
  return doors.some((door) => door.endsWith("/") ? path.startsWith(door) : path === door);
}

function brokenDoor({ from, to }: Import): string | undefined {
  for (const [folder, doors] of Object.entries(DOORS)) {
    if (to.startsWith(folder) && !from.startsWith(folder) && !isOneOf(doors, to)) {
      return `outside ${folder} only ${doors.join(" and ")} may be imported`;
    }
  }
  const home = directoryOf(to);
  if (/\/_[^/]+\.ts$/.test(to) && !from.startsWith(home)) return `${to} is private to ${home}`;
  return undefined;
}

function brokenRank({ from, to }: Import): string | undefined {
  if (!/^src\/.*\.tsx?$/.test(to)) return undefined; // The data belongs to the module that reads it.
  const [a, b] = [folderOf(from), folderOf(to)];
  if (!from.startsWith("src/") || a === b) return undefined;
  const [rankA, rankB] = [RANK[a], RANK[b]];
  if (rankA === undefined || rankB === undefined) return `no rank for "${rankA === undefined ? a : b}" in src/`;
  return rankB >= rankA ? `${a} (rank ${rankA}) may not import ${b} (rank ${rankB})` : undefined;
}

function brokenExtensionWall({ from, to }: Import): string | undefined {
  if (from.startsWith("src/")) {
    return to.startsWith("extensions/") ? "src/ never imports extensions/: the loader does, by URL" : undefined;
  }
  if (from === SHIPPED_INDEX) {
    return /^extensions\/[^/]+\/mod\.ts$/.test(to) ? undefined : `${from} may only import extensions/<name>/mod.ts`;
  }
  const own = from.split("/").slice(0, 2).join("/") + "/";
  return to === "src/extension/mod.ts" || to.startsWith(own)
    ? undefined
    : `${own} may only import itself and src/extension/mod.ts`;
}

function brokenWall({ from, to, type }: Import): string | undefined {
  const wall = WALLS.find(({ of }) => from.startsWith(of));
  if (!wall || wall.may.some((prefix) => to.startsWith(prefix))) return undefined;
  const inTypes = wall.types?.some((prefix) => to.startsWith(prefix)) ?? false;
  if (inTypes) return type ? undefined : `${wall.of} may import ${to} with "import type" only`;
  return `${wall.of} may only import ${wall.may.join(", ") || "nothing"}`;
}

/** Returns the rule that an import of src/ or extensions/ breaks; undefined if it is allowed. */
export function brokenRule(one: Import): string | undefined {
  const { from, to } = one;
  if (!/^(src|extensions)\//.test(from) || from === to) return undefined;
  const owner = brokenOwner(one);
  if (owner) return owner;
  if (packageOf(to) !== undefined) return from === "src/sandbox/protocol.ts" ? `${from} imports nothing` : undefined;
  if (!/^(src|extensions)\//.test(to)) return /^(tests|scripts|bench)\//.test(to) ? `${from} imports ${to}` : undefined;
  return brokenDoor(one) ?? brokenExtensionWall(one) ?? brokenWall(one) ?? brokenRank(one);
}
