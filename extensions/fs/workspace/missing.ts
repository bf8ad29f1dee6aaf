import { editDistance } from "@vis/extension";
import { dirname } from "node:path";
import { confine } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { FolderTooLarge } from "../tree/tree.ts";
import { walk } from "../walk/walk.ts";

const MAX_CANDIDATES = 3_000;

/** The error for a missing path, with the nearest existing one. */
export async function missing(
  context: FsContext,
  { action, path }: { readonly action: string; readonly path: string },
): Promise<Error> {
  const near = await nearest(context, path).catch((error: unknown) => {
    if (error instanceof FolderTooLarge) return []; // the file is missing all the same
    throw error;
  });
  const base = `Cannot ${action} ${path}: no such file or folder`;
  if (near.length > 0) return new Error(`${base}; did you mean ${near.join(" or ")}`);
  let folder = dirname(path);
  while (folder !== "." && confine(context, folder).info?.kind !== "dir") folder = dirname(folder);
  return new Error(`${base}; the nearest folder that exists is ${folder === "." ? "the workspace" : folder}`);
}

/** Up to three paths: the same name elsewhere, or a similar name in the same folder. */
async function nearest(context: FsContext, path: string): Promise<string[]> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const parent = dirname(path);
  const scored: { readonly path: string; readonly score: number }[] = [];
  const pace = new Pace(context.signal);
  let seen = 0;
  for (const entry of walk({ tree: context.tree, start: ".", all: false, depth: 12 })) {
    if (++seen > MAX_CANDIDATES) break;
    if (pace.due) await pace.rest();
    if (entry === null) continue;
    const other = entry.path.slice(entry.path.lastIndexOf("/") + 1);
    const sibling = dirname(entry.path) === parent;
    const most = Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 1);
    const isFar = Math.abs(other.length - name.length) > most;
    const away = isFar ? Infinity : editDistance(other, name);
    const score = other.toLowerCase() === name.toLowerCase() ? (sibling ? 0 : 0.5) : away;
    if (score <= (sibling ? most : 1)) scored.push({ path: entry.path, score: score + (sibling ? 0 : 0.4) });
  }
  scored.sort((a, b) => a.score - b.score);
  const best = scored[0]?.score ?? 0;
  return scored.filter((one) => one.score <= best + 1).slice(0, 3).map((one) => one.path);
}
