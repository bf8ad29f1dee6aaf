import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { migrations } from "../../../migrations/postgres/mod.ts";
import { StoreError } from "../../domain/errors.ts";
import { settledWithin } from "../../domain/kit/concurrency.ts";
import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import { databaseStore, type DatabaseStoreOptions } from "../database_store.ts";
import type { Database } from "../database.ts";
import type { Store } from "../store.ts";
import { PostgresDatabase } from "./postgres_database.ts";
import { isAborted, toPostgresError, wordsOf } from "./postgres_error.ts";
import { type Address, type Connection, readAddress, Server } from "./server.ts";

const PATIENCE_MS = 10 * 60_000;

interface OpenPostgresOptions {
  readonly now: () => number;
  readonly tenant: string | null;
  readonly startMs: number;
  readonly password?: string | undefined;
  readonly unfinished?: boolean;
}

interface OpenPostgres {
  readonly db: PostgresDatabase;
  readonly server: Server;
  readonly address: Address;
  readonly location: string;
}

export async function openPostgres(url: string, options: OpenPostgresOptions): Promise<OpenPostgres> {
  const address = readAddress(url, options.password);
  const location = address.shown;
  const server = new Server(address, { patienceMs: PATIENCE_MS });
  try {
    const connection = await server.take(options.startMs);
    try {
      await migratePostgres(connection, { ...options, location });
    } catch (error) {
      connection.release(true);
      throw error;
    }
    connection.release();
  } catch (error) {
    await server.close();
    throw toPostgresError(error, location);
  }
  return { db: new PostgresDatabase(server, { tenant: options.tenant }), server, address, location };
}

export async function openPostgresStore(
  url: string,
  options: Omit<OpenPostgresOptions, "unfinished" | "tenant"> & Pick<DatabaseStoreOptions, "isAlive">,
): Promise<Store> {
  const { db, server, address, location } = await openPostgres(url, { ...options, tenant: DEFAULT_TENANT });
  const { now, isAlive, startMs } = options;
  return databaseStore(db, {
    ...{ now, isAlive, location },
    asNode: async (node) => {
      const { openNodeStore } = await import("../node_store.ts");
      return openNodeStore(db.of(null), { node, address, now, isAlive });
    },
    busyMs: startMs,
    toStoreError: toPostgresError,
    check: () => mayBypass(db),
    fileFault: () => server.fault,
    writeFault: writeFaultOf(db, server),
  });
}

const WRITE_MS = 5_000;

function writeFaultOf(db: Database, server: Server): () => Promise<string> {
  let writing: Promise<string> | null = null;
  return async () => {
    const fault = writing ??= db.write((tx) => Promise.resolve(tx.run("SELECT 1", []))).then(() => "", wordsOf)
      .finally(() => writing = null);
    if (await settledWithin(fault, WRITE_MS)) return await fault;
    return server.fault === "" ? `a write takes longer than ${WRITE_MS / 1000} seconds` : server.fault;
  };
}

async function mayBypass(db: Database): Promise<readonly string[]> {
  const [role] = await db.run(
    "SELECT rolname AS name FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)",
    [],
  );
  return role
    ? [
      `the role ${
        String(role["name"])
      } bypasses row-level security, which separates tenants; use a role without SUPERUSER and BYPASSRLS`,
    ]
    : [];
}

/** The number is arbitrary, so another program probably does not use it. */
const LOCK = 7_164_011;
/** An attempt waits at most `LOCK_MS` for the lock of a table, and Vis repeats attempts for `MIGRATION_PATIENCE_MS`
 * while other nodes use the tables. */
const LOCK_MS = 2_000, PAUSE_MS = 200, MIGRATION_PATIENCE_MS = 60_000;

async function migratePostgres(
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
      if (!isAborted(error) || performance.now() - start > MIGRATION_PATIENCE_MS) throw error;
      await connection.query("ROLLBACK");
    }
  }
}

/** The short lock timeout bounds the waits of other nodes, and ends deadlocks. */
async function migrate(
  connection: Connection,
  { location, now }: { readonly location: string; readonly now: () => number },
): Promise<void> {
  await connection.query("BEGIN; SET LOCAL vis.tenant = '*'; SET LOCAL idle_in_transaction_session_timeout = 5000");
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
    `Cannot use database ${location}: a copy to it is not finished; run the same vis db copy again`,
    "unavailable",
  );
}

async function schemaOf(
  connection: Connection,
  location: string,
): Promise<{ readonly version: number; readonly former: boolean }> {
  const { rows: [found] } = await connection.query(
    "SELECT to_regclass('schema_migration') AS ours, to_regclass('conversation_soul') AS other",
  );
  if (found?.["ours"] === null) {
    if (found["other"] === null) return { version: 0, former: false };
    throw new StoreError(
      `Cannot use database ${location}: it belongs to another program, or its table schema_migration is missing; use ` +
        "another database, or restore a backup",
      "unavailable",
    );
  }
  const { rows: [newest] } = await connection.query(
    "SELECT coalesce(max(version), 0) AS version, min(sha256) FILTER (WHERE version = 1) AS first FROM schema_migration",
  );
  const version = Number(newest?.["version"]);
  const former = newest?.["first"] === FORMER_POSTGRES_FIRST;
  if (former && version < FORMER_POSTGRES_NEWEST) {
    throw new StoreError(
      `Cannot use database ${location}: an early version of Vis created it (schema V${version}); export ` +
        "its conversations with that version (vis conversations export --format json), and import them into " +
        "an empty database",
      "unavailable",
    );
  }
  if (former || version <= migrations.length) return { version, former };
  throw new StoreError(
    `Cannot use database ${location}: a newer Vis wrote it (schema V${version}, this Vis knows ` +
      `V${migrations.length}); update Vis`,
    "newer",
  );
}

export const FORMER_POSTGRES_FIRST = "e741d4279af442680e07ccc112533022f9574f9b2b293fc42b77936600ef84a7";

const FORMER_POSTGRES_NEWEST = 8;

const UPGRADE_TO_V1 = `
ALTER TABLE conversation_soul DROP checksum, DROP branches;
ALTER TABLE conversation_state DROP checksum, DROP variables, DROP edges, DROP scopes;
ALTER TABLE query_soul DROP checksum, DROP variables;
ALTER TABLE query_state DROP checksum, DROP iterations;
ALTER TABLE iteration DROP checksum, DROP variables, DROP states, DROP children, DROP calls;
ALTER TABLE expression_soul DROP checksum;
ALTER TABLE expression_dependency DROP checksum;
ALTER TABLE expression_state DROP checksum, DROP replaces;
ALTER TABLE child_branch DROP checksum;
ALTER TABLE sub_call DROP checksum;
ALTER TABLE scope_change DROP checksum;
ALTER TABLE extension_state DROP checksum;
ALTER TABLE request_key DROP checksum;
DELETE FROM schema_migration;
`;
