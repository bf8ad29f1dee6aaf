import { stat } from "node:fs/promises";
import type { VacuumReport } from "../domain/database_care.ts";
import { notAlone, openAlone } from "./_alone.ts";
import { openExisting } from "./_existing_database.ts";

/** `DatabaseCare.vacuum`. It writes the file anew, for which a turn elsewhere could not wait. */
export async function vacuumDatabase(path: string): Promise<VacuumReport> {
  const start = performance.now();
  (await openExisting(path, "vacuum")).db.close();
  const db = openAlone(path);
  if (db === null) throw notAlone("vacuum", path);
  try {
    const { size: bytesBefore } = await stat(path);
    db.exec("INSERT INTO search (search) VALUES ('optimize')");
    db.exec("VACUUM");
    const { size: bytesAfter } = await stat(path);
    return { bytesBefore, bytesAfter, ms: performance.now() - start };
  } finally {
    db.close();
  }
}
