import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { migrations } from "../../../migrations/postgres/mod.ts";
import { StoreError } from "../../domain/errors.ts";
import { FORMER_POSTGRES_FIRST, FORMER_POSTGRES_NEWEST, UPGRADE_TO_V1 } from "./before_v1.ts";
import { isAborted } from "./postgres_error.ts";
import type { Connection } from "./server.ts";

/** Any number that no other program is likely to lock. */
const LOCK = 7_164_011;
/** How long one try waits for a lock, and for how long it is tried while other nodes use the tables. */
const LOCK_MS = 2_000, PAUSE_MS = 200, PATIENCE_MS = 60_000;

/** Brings a database to the newest schema, each file in a transaction. Throws `StoreError` for a database of a newer
 * Vis, for one of another program, and, unless `unfinished` is set, for an unfinished copy. */
export async function migratePostgres(
  connection: Connection,
  { location, now, unfinished = false }: {
    readonly location: string;
    readonly now: () => number;
    readonly unfinished?: boolean;
  },
): Promise<void> {
  if (!unfinished) await refuseUnfinished(connection, location);
  const { version, former } = await schemaOf(connection, location);
  if (!former && version === migrations.length) return;
  for (const start = performance.now();; await sleep(PAUSE_MS)) {
    try {
      return await migrate(connection, { location, now });
    } catch (error) {
      if (!isAborted(error) || performance.now() - start > PATIENCE_MS) throw error;
      await connection.query("ROLLBACK");
    }
  }
}

/** Tries it once. Nodes that use a table do not wait for long, and no deadlock with them lasts. */
async function migrate(
  connection: Connection,
  { location, now }: { readonly location: string; readonly now: () => number },
): Promise<void> {
  await connection.query("BEGIN; SET LOCAL vis.tenant = '*'; SET LOCAL idle_in_transaction_session_timeout = 5000");
  // Another process may be doing the same.
  await connection.query(`SELECT pg_advisory_xact_lock(${LOCK}); SET LOCAL lock_timeout = ${LOCK_MS}`);
  const found = await schemaOf(connection, location);
  for (const { version, name, sql } of migrations.slice(found.former ? 0 : found.version)) {
    if (found.version === 0 && version === 1) {
      await connection.query(
        "CREATE TABLE schema_migration (version bigint PRIMARY KEY, name text, sha256 text, applied_at bigint)",
      );
    }
    await connection.query(found.former && version === 1 ? UPGRADE_TO_V1 : sql);
    const sha256 = createHash("sha256").update(sql).digest("hex");
    const parameters = [version, name, sha256, now()];
    await connection.query("INSERT INTO schema_migration VALUES ($1, $2, $3, $4)", { parameters });
  }
  await connection.query("COMMIT");
}

async function refuseUnfinished(connection: Connection, location: string): Promise<void> {
  const { rows: [found] } = await connection.query("SELECT to_regclass('copy_progress') AS copying");
  if (found?.["copying"] === null) return;
  throw new StoreError(
    `Cannot use database ${location}: a copy to it is not finished, run the same vis db copy again`,
    "unavailable",
  );
}

/** The schema of a database: version 0 for an empty one; `former` for one of before V1. */
async function schemaOf(
  connection: Connection,
  location: string,
): Promise<{ readonly version: number; readonly former: boolean }> {
  const { rows: [found] } = await connection.query(
    "SELECT to_regclass('schema_migration') AS ours, to_regclass('conversation_soul') AS other",
  );
  if (found?.["ours"] === null) {
    if (found["other"] === null) return { version: 0, former: false };
    throw new StoreError(`Cannot use database ${location}: it belongs to another program`, "unavailable");
  }
  const { rows: [newest] } = await connection.query(
    "SELECT coalesce(max(version), 0) AS version, min(sha256) FILTER (WHERE version = 1) AS first FROM schema_migration",
  );
  const version = Number(newest?.["version"]);
  const former = newest?.["first"] === FORMER_POSTGRES_FIRST;
  if (former && version < FORMER_POSTGRES_NEWEST) {
    throw new StoreError(
      `Cannot use database ${location}: an early version of Vis made it (schema V${version}), export its conversations ` +
        "with that version (vis conversations export --format json) and import them into an empty database",
      "unavailable",
    );
  }
  if (former || version <= migrations.length) return { version, former };
  throw new StoreError(
    `Cannot use database ${location}: a newer Vis wrote it (schema V${version}, this one knows V${migrations.length}), ` +
      "update Vis",
    "newer",
  );
}
