import type { QueryStore } from "../persistence/store/query_store.ts";

/** Reads the current state of queries. If one is marked as running but its process is gone, it is ended first. */
export async function readSettled<T>(
  store: Pick<QueryStore, "sweepLost">,
  { read, runs }: { readonly read: () => Promise<T>; readonly runs: (found: T) => boolean },
): Promise<T> {
  const found = await read();
  if (!runs(found)) return found;
  // A database that cannot be written can still be read.
  return await store.sweepLost().catch(() => 0) > 0 ? await read() : found;
}
