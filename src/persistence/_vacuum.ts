import { chmod, open, rename, rm, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseSync } from "node:sqlite";
import type { VacuumReport } from "../domain/database_care.ts";
import { StoreError } from "../domain/errors.ts";
import { notAlone, openAlone } from "./_alone.ts";
import { openExisting } from "./_existing_database.ts";
import { rebuild } from "./_rebuild.ts";
import { rowProblems } from "./_row_problems.ts";

/** As in a restore: who waits for the lock on the old file opens the path again. */
const NEWCOMER_MS = 120;

/** A new file would hold less than can still be saved from the old one. */
function refuseDamagedRows(db: DatabaseSync, path: string): void {
  const [problem, ...more] = rowProblems(db);
  if (problem === undefined) return;
  const others = more.length === 0 ? "" : `, and ${more.length} more`;
  throw new StoreError(
    `Cannot vacuum ${path}: it is damaged (${problem}${others}); vis db check lists what is affected, ` +
      "vis db restore COPY puts a backup in its place",
    "corrupt",
  );
}

/** `DatabaseCare.vacuum`: the file is written anew beside the old one and takes its place when it holds the same. */
export async function vacuumDatabase(path: string): Promise<VacuumReport> {
  const start = performance.now();
  (await openExisting(path, "vacuum")).db.close();
  const db = openAlone(path);
  if (db === null) throw notAlone("vacuum", path);
  const partial = `${path}.vacuuming`;
  try {
    db.exec("BEGIN EXCLUSIVE");
    refuseDamagedRows(db, path);
    const { size: bytesBefore } = await stat(path);
    await rm(partial, { force: true });
    await (await open(partial, "wx", 0o600)).close();
    rebuild(db, partial);
    const file = await open(partial, "r+");
    await file.sync().finally(() => file.close());
    await chmod(partial, 0o600);
    await rename(partial, path);
    await sleep(NEWCOMER_MS);
    return { bytesBefore, bytesAfter: (await stat(path)).size, ms: performance.now() - start };
  } finally {
    for (const end of ["", "-journal"]) await rm(`${partial}${end}`, { force: true });
    db.close();
  }
}
