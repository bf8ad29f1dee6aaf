import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "../sqlite/error_kinds.ts";

/** Runs work in a transaction that waits for other writers. */
export async function locked<T>(
  db: DatabaseSync,
  { busyMs, work }: { readonly busyMs: number; readonly work: () => T },
): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      db.exec("BEGIN IMMEDIATE");
      break;
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > busyMs) throw error;
    }
    await sleep(10);
  }
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
