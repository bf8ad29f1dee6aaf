import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../domain/errors.ts";
import { renameOver } from "../../domain/kit/files.ts";
import { copyDatabase } from "./copy_database.ts";
import { isBusy } from "./error_kinds.ts";
import { damaged, systemError } from "./store_error.ts";

export interface MigrationFile {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const TABLE = `CREATE TABLE IF NOT EXISTS schema_migration (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL
)`;

const OUR_TABLE = "conversation_soul";

export interface MigrateOptions {
  readonly path: string;
  readonly now: () => number;
  /** Makes the schema of all files at once: SQLite reads the whole schema again for each column that a file drops. */
  readonly newest?: string;
}

/** Brings a database to the newest schema: each file in its own transaction, in order, recorded with its checksum. If a
 * file fails, the database stays at the version before it. An empty database gets `newest` in place of the files. Before
 * a database that contains data is changed, a copy is saved next to it as `<path>.before-V<n>`. Throws `StoreError`. */
export async function migrate(
  db: DatabaseSync,
  files: readonly MigrationFile[],
  options: MigrateOptions,
): Promise<void> {
  const { path, newest } = options;
  if (newest !== undefined && checkedVersion(db, { files, path }) === 0) begin(db, files, { ...options, newest });
  for (const file of files.slice(checkedVersion(db, { files, path }))) {
    db.exec("BEGIN IMMEDIATE");
    try {
      // Checked again under the lock: another process may have been faster.
      if (checkedVersion(db, { files, path }) < file.version) await apply(db, file, options);
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      if (error instanceof StoreError || isBusy(error)) throw error;
      throw (error instanceof Error && systemError(error, path)) || new StoreError(
        `Cannot bring database ${path} to schema V${file.version}: ${file.name} failed and nothing was changed, ` +
          "keep using the version of Vis that you had, and report this",
        "unavailable",
        { cause: error },
      );
    }
  }
}

/** Makes the newest schema in an empty database. */
function begin(
  db: DatabaseSync,
  files: readonly MigrationFile[],
  { path, now, newest }: Required<MigrateOptions>,
): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    // Checked again under the lock: another process may have been faster.
    if (checkedVersion(db, { files, path }) === 0) {
      db.exec(TABLE);
      db.exec(newest);
      for (const file of files) record(db, file, now);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw (error instanceof Error && systemError(error, path)) || error;
  }
}

async function apply(db: DatabaseSync, file: MigrationFile, { path, now }: MigrateOptions): Promise<void> {
  if (file.version > 1 && path !== ":memory:" && holdsData(db)) await keepCopy(path, file.version);
  db.exec(TABLE);
  db.exec(file.sql);
  record(db, file, now);
}

function record(db: DatabaseSync, file: MigrationFile, now: () => number): void {
  db.prepare("INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)")
    .run(file.version, file.name, checksum(file), now());
}

/** The schema version of the database, 0 for an empty one. Refuses a database that is not from Vis, newer, or made by
 * changed files. */
export function checkedVersion(
  db: DatabaseSync,
  { files, path }: { readonly files: readonly MigrationFile[]; readonly path: string },
): number {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all().map((row) => row.name);
  if (tables.length === 0) return 0;
  if (!tables.includes("schema_migration")) {
    if (tables.includes(OUR_TABLE)) throw damaged(path, { what: "the table schema_migration is missing" });
    throw new StoreError(
      `Cannot use database ${path}: it belongs to another program, choose another file with --db`,
      "unavailable",
    );
  }
  const done = db.prepare("SELECT version, name, sha256 FROM schema_migration ORDER BY version").all();
  const newest = Number(done.at(-1)?.version ?? 0);
  const odd = done.find((row) => isOdd(row, files));
  if (odd) throw damaged(path, { what: `row ${String(odd.version)} of schema_migration is not what was stored` });
  if (newest > files.length) {
    throw new StoreError(
      `Cannot use database ${path}: a newer Vis wrote it (schema V${newest}, this one knows V${files.length}), ` +
        "update Vis or choose another file with --db",
      "newer",
    );
  }
  for (const row of done) {
    const file = files[Number(row.version) - 1];
    if (file && checksum(file) !== row.sha256) {
      throw new StoreError(
        `Cannot use database ${path}: its schema ${String(row.name)} is not the one of this Vis, ` +
          "use the Vis that made it or give another file with --db",
        "unavailable",
      );
    }
  }
  return newest;
}

/** Returns what throws `StoreError` once a newer Vis has migrated the database further while it is open here. */
export function refuseNewer(
  db: DatabaseSync,
  { files, path }: { readonly files: readonly MigrationFile[]; readonly path: string },
): () => void {
  const newest = db.prepare("SELECT max(version) AS version FROM schema_migration");
  return () => {
    const version = Number(newest.get()?.version);
    if (version <= files.length) return;
    throw new StoreError(
      `Cannot use database ${path}: a newer Vis has changed it while it was open (schema V${version}, this one knows ` +
        `V${files.length}), start again with the newer Vis`,
      "newer",
    );
  };
}

/** A version that does not match the name, or a checksum with one or two characters changed: nobody wrote that. */
function isOdd({ version, name, sha256 }: Record<string, unknown>, files: readonly MigrationFile[]): boolean {
  if (!String(name).startsWith(`V${String(version)}__`)) return true;
  const file = files[Number(version) - 1];
  const [expected, found] = [file ? checksum(file) : String(sha256), String(sha256)];
  const others = [...expected].filter((char, at) => char !== found[at]).length;
  return found !== expected && found.length === expected.length && others <= 2;
}

function holdsData(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM conversation_soul LIMIT 1").get() !== undefined;
}

/** Reads through a second connection while ours holds the write lock, so that nothing can be written in between. */
async function keepCopy(path: string, version: number): Promise<void> {
  const target = `${path}.before-V${version}`;
  const partial = `${target}.partial`;
  const reader = new DatabaseSync(path, { readOnly: true });
  try {
    await copyDatabase(reader, { target: partial, like: path });
  } finally {
    reader.close();
  }
  await renameOver(partial, target);
}

function checksum(file: MigrationFile): string {
  return createHash("sha256").update(file.sql).digest("hex");
}
