import type { Store } from "../persistence/store/store.ts";

/** What is read of queries, as it is now: where one of them runs whose process is gone, it ends first. */
export async function readSettled<T>(
  store: Pick<Store, "sweepLost">,
  { read, runs }: { readonly read: () => Promise<T>; readonly runs: (found: T) => boolean },
): Promise<T> {
  const found = await read();
  if (!runs(found)) return found;
  // A database that cannot be written can be read.
  return await store.sweepLost().catch(() => 0) > 0 ? await read() : found;
}
