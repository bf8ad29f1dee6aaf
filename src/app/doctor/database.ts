import { dirname } from "node:path";
import type { CheckResult } from "../../channels/channel.ts";
import { StoreError, type StoreErrorCode } from "../../domain/errors.ts";
import { isPostgres } from "../../domain/kit/addresses.ts";
import { openStore } from "../../persistence/open_store.ts";
import { folderFault } from "../settings/folder_fault.ts";
import type { Settings } from "../settings/settings.ts";

const FIXES: Readonly<Record<StoreErrorCode, string>> = {
  busy: "Another process is using it: try again when that has ended",
  full: "Free some disk space; vis db prune and vis db vacuum help",
  readonly: "Make the file and its folder writable, or use another database: --db, VIS_DB",
  moved: "Leave the file and its log where they are while it is in use, and try again",
  corrupt:
    "Keep a copy of the file, then restore a backup with vis db restore PATH; or use another database: --db, VIS_DB",
  newer: "Use the newer Vis, or use another database: --db, VIS_DB",
  unavailable: "Use another database: --db, VIS_DB, VIS_DATABASE_URL",
};

const ROLE = "Connect as an ordinary role that owns the database: CREATE ROLE vis LOGIN, CREATE DATABASE vis OWNER vis";

/** Checks whether the database can be opened and is consistent. A missing database is not a fault. */
export async function diagnoseDatabase(
  { database, databasePassword }: Pick<Settings, "database" | "databasePassword">,
): Promise<CheckResult> {
  const name = "database";
  if (database !== ":memory:" && !isPostgres(database) && !await exists(database)) {
    const why = folderFault(dirname(database));
    if (why !== "") return { name, state: "fail", found: `${database} cannot be created: ${why}`, fix: FIXES.readonly };
    return { name, state: "ok", found: `${database} (created by the first request)`, fix: "" };
  }
  try {
    const store = await openStore({ path: database, password: databasePassword });
    try {
      const problems = await store.check();
      if (problems.length === 0) return { name, state: "ok", found: store.location, fix: "" };
      if (isPostgres(database)) return { name, state: "warn", found: problems.join("; "), fix: ROLE };
      return { name, state: "fail", found: problems.slice(0, 3).join("; "), fix: FIXES.corrupt };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { name, state: "fail", found: error.message, fix: FIXES[error.code] };
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => !(error instanceof Deno.errors.NotFound));
}
