import { dirname } from "node:path";
import type { Checkpoint } from "../checkpoints/checkpoints.ts";
import type { FsContext } from "../workspace/context.ts";
import { type HalfChanged, putBack } from "./put_back.ts";

type Place = Pick<FsContext, "tree" | "guard" | "checkpoints">;

/** Reverts half-made changes of processes that have ended. Resolves with the number of changes. */
export async function recover(context: Place): Promise<number> {
  const { checkpoints } = context;
  const abandoned = await checkpoints?.abandoned() ?? [];
  for (const checkpoint of abandoned) {
    removeTemporary(context, checkpoint);
    await putBack(context, await itemsOf(context, checkpoint));
    await checkpoints?.drop(checkpoint.id);
  }
  return abandoned.length;
}

async function itemsOf({ checkpoints }: Place, { items, moves = [] }: Checkpoint): Promise<readonly HalfChanged[]> {
  const sources = new Map(moves.map(({ from, to }) => [to, from]));
  const loaded = await Promise.all(items.map(async ({ path, before, after }) => {
    const snapshot = await checkpoints?.load(before).catch(() => undefined);
    const made = await checkpoints?.load(after).catch(() => null);
    return snapshot === undefined ? [] : [{ path, before: snapshot, after, made, from: sources.get(path) }];
  }));
  return loaded.flat();
}

function removeTemporary({ tree, guard }: Place, { temporary }: Checkpoint): void {
  for (const path of temporary) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    try {
      using folder = tree.folder(dirname(path), (one) => guard.check(one));
      if (/^\.vis-[\w-]+\.tmp$/.test(name)) folder.remove(name);
    } catch { /* it is gone already */ }
  }
}
