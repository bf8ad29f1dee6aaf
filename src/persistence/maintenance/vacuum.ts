import { rm, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { renameOver } from "../../domain/kit/files.ts";
import type { VacuumReport } from "../../domain/records/database_maintenance.ts";
import { modeOf, writeFresh } from "../sqlite/copy_database.ts";
import { openExisting } from "../sqlite/existing_database.ts";
import { closeOnce, notAlone, openAlone } from "./alone.ts";
import { removeUnused } from "./collect_content.ts";
import { rebuild } from "./rebuild.ts";
import { refuseDamaged } from "./refuse_damaged.ts";

/** As in a restore: a process that waits for the lock on the old file opens the path again. */
const NEWCOMER_MS = 120;

/** `DatabaseMaintenance.vacuum`: writes the content to a new file next to the old one and replaces the old file if the
 * content is the same. */
export async function vacuumDatabase(path: string): Promise<VacuumReport> {
  const start = performance.now();
  const { db: opened, schema } = await openExisting(path, "vacuum");
  opened.close();
  const db = openAlone(path);
  if (db === null) throw notAlone("vacuum", path);
  const close = closeOnce(db);
  const partial = `${path}.vacuuming`;
  try {
    refuseDamaged(db, { doing: `vacuum ${path}`, path, schema });
    db.exec("BEGIN EXCLUSIVE");
    // Nothing that a killed process left of a deleted conversation is copied.
    removeUnused(db);
    const { size: bytesBefore } = await stat(path);
    await writeFresh(partial, { like: path, mode: await modeOf(path) }, () => rebuild(db, partial));
    await renameOver(partial, path, { release: close });
    await sleep(NEWCOMER_MS);
    return { bytesBefore, bytesAfter: (await stat(path)).size, ms: performance.now() - start };
  } finally {
    for (const end of ["", "-journal"]) await rm(`${partial}${end}`, { force: true });
    close();
  }
}
