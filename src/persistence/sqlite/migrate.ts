import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { StoreError } from "../../domain/errors.ts";
import { renameOver } from "../../domain/kit/files.ts";
import { copyDatabase } from "./copy_database.ts";
import { damaged, isBusy, systemError } from "./sqlite_error.ts";

export interface MigrationFile {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const TABLE = `CREATE TABLE IF NOT EXISTS schema_migration (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL
)`;

export const OUR_TABLE = "conversation_soul";

interface MigrateOptions {
  readonly path: string;
  readonly now: () => number;
}

/** Version 0 is an empty database. A `former` database is older than the folding of its migrations into V1. */
export interface FoundSchema {
  readonly version: number;
  readonly former: boolean;
}

interface Known {
  readonly files: readonly MigrationFile[];
  readonly path: string;
}

/** Each file has its own transaction, so a failure leaves the previous version. If a database file contains
 * conversations, Vis first copies it to `<path>.before-V<n>`. */
export async function migrate(
  db: DatabaseSync,
  files: readonly MigrationFile[],
  options: MigrateOptions,
): Promise<void> {
  const { path } = options;
  const isDone = ({ version, former }: FoundSchema, file: MigrationFile) => !former && version >= file.version;
  for (const file of files) {
    if (isDone(foundSchema(db, { files, path }), file)) continue;
    db.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have been faster, so Vis checks the schema again under the lock.
      const found = foundSchema(db, { files, path });
      if (!isDone(found, file)) await apply(db, file, { ...options, found });
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      if (error instanceof StoreError || isBusy(error)) throw error;
      throw (error instanceof Error && systemError(error, path)) || new StoreError(
        `Cannot migrate database ${path} to schema V${file.version}: ${file.name} failed, and Vis undid its changes; ` +
          "report the failure",
        "unavailable",
        { cause: error },
      );
    }
  }
}

async function apply(
  db: DatabaseSync,
  file: MigrationFile,
  { path, now, found }: MigrateOptions & { readonly found: FoundSchema },
): Promise<void> {
  if (found.version > 0 && path !== ":memory:" && holdsData(db)) await keepCopy(path, file.version);
  db.exec(TABLE);
  db.exec(found.former ? upgradeToV1(found.version) : file.sql);
  db.prepare("INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)")
    .run(file.version, file.name, checksumOf(file), now());
}

export function foundSchema(db: DatabaseSync, { files, path }: Known): FoundSchema {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all().map((row) => row.name);
  if (tables.length === 0) return { version: 0, former: false };
  if (!tables.includes("schema_migration")) {
    if (tables.includes(OUR_TABLE)) throw damaged(path, { what: "the table schema_migration is missing" });
    throw refused(path, "it belongs to another program; use another file");
  }
  const done = db.prepare("SELECT version, name, sha256 FROM schema_migration ORDER BY version").all();
  const odd = done.find((row) => isOdd(row, files));
  if (odd) {
    throw damaged(path, { what: `row ${String(odd.version)} of schema_migration has changed since Vis stored it` });
  }
  const version = Number(done.at(-1)?.version ?? 0);
  if (done[0]?.sha256 === FORMER_FIRST) {
    if (FORMER_SCHEMAS.has(version)) return { version, former: true };
    throw refused(
      path,
      `an early version of Vis created it (schema V${version}); export its conversations with that version ` +
        "(vis conversations export --format json), and import them into another file",
    );
  }
  if (version > files.length) {
    throw new StoreError(
      `Cannot use database ${path}: a newer Vis wrote it (schema V${version}, this Vis knows ` +
        `V${files.length}); update Vis, or choose another file with --db`,
      "newer",
    );
  }
  const changed = done.find((row) => row.sha256 !== checksumOf(files[Number(row.version) - 1]));
  if (changed === undefined) return { version, former: false };
  throw refused(
    path,
    `the file ${String(changed.name)} of its schema differs from the file of this Vis; use the Vis that created the ` +
      "database, or choose another file with --db",
  );
}

function refused(path: string, why: string): StoreError {
  return new StoreError(`Cannot use database ${path}: ${why}`, "unavailable");
}

export function refuseNewer(db: DatabaseSync, { files, path }: Known): () => void {
  const newest = db.prepare("SELECT max(version) AS version FROM schema_migration");
  return () => {
    const version = Number(newest.get()?.version);
    if (version <= files.length) return;
    throw new StoreError(
      `Cannot use database ${path}: a newer Vis changed it while it was open (schema V${version}, this Vis ` +
        `knows V${files.length}); start again with the newer Vis`,
      "newer",
    );
  };
}

function isOdd({ version, name, sha256 }: Record<string, unknown>, files: readonly MigrationFile[]): boolean {
  if (!String(name).startsWith(`V${String(version)}__`)) return true;
  const found = String(sha256);
  const known = [checksumOf(files[Number(version) - 1]), ...(version === 1 ? [FORMER_FIRST] : [])];
  return known.some((expected) => {
    const others = [...expected].filter((char, at) => char !== found[at]).length;
    return others > 0 && others <= 2 && found.length === expected.length;
  });
}

function holdsData(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM conversation_soul LIMIT 1").get() !== undefined;
}

/** The migrating connection holds the write lock, so no other process writes during the copy. */
async function keepCopy(path: string, version: number): Promise<void> {
  const target = `${path}.before-V${version}`;
  const partial = `${target}.partial`;
  const reader = new DatabaseSync(path, { readOnly: true });
  try {
    await copyDatabase(reader, { target: partial, like: path });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "corrupt")) throw error;
    throw new StoreError(
      `Cannot use database ${path}: it is damaged, and Vis upgrades only an undamaged database; restore a backup, or ` +
        "export its conversations with the previous version of Vis",
      "corrupt",
      { cause: error },
    );
  } finally {
    reader.close();
  }
  await renameOver(partial, target);
}

function checksumOf(file: MigrationFile | undefined): string {
  return file === undefined ? "" : createHash("sha256").update(file.sql).digest("hex");
}

/** For a schema before V1, Vis knows only the digest, so the problem names no object. */
export function schemaProblems(db: DatabaseSync, { version, former }: FoundSchema): readonly string[] {
  const expected = former ? FORMER_SCHEMAS.get(version) : migrations[version - 1]?.schema;
  if (schemaDigest(db) === expected) return [];
  if (former) return [`A table, index, view or trigger differs from schema V${version}`];
  using made = new DatabaseSync(":memory:");
  for (const { sql } of migrations.slice(0, version)) made.exec(sql);
  const found = schemaObjects(db);
  return [...schemaObjects(made)].flatMap(([name, sql]) => {
    if (!found.has(name)) return [`The ${name} is missing`];
    return found.get(name) === sql ? [] : [`The ${name} differs from schema V${version}`];
  });
}

/** A `former` database has recorded this checksum of its first migration. */
export const FORMER_FIRST = "8e8841d5fd0e39a8ec6fe4e629882c7dbbfff0bfdf59d0e8dd748241183cfa56";

const FORMER_SCHEMAS: ReadonlyMap<number, number> = new Map([
  [10, 1615230442],
  [11, -1669871739],
  [12, 330415391],
]);

const ERASURE = `
CREATE TABLE erasure (
  hash TEXT PRIMARY KEY NOT NULL
);
CREATE TABLE claim (
  put TEXT NOT NULL,
  reference TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (put, reference)
);
CREATE INDEX idx_claim_reference ON claim (reference);
`;

const PLAIN_ROWS = `
DROP TRIGGER tally_conversation_insert;
DROP TRIGGER tally_conversation_update;
DROP TRIGGER tally_conversation_delete;
DROP TRIGGER tally_branch;
DROP TRIGGER tally_iteration;
DROP TRIGGER tally_expression_state;
DROP TRIGGER tally_child_branch;
DROP TRIGGER tally_sub_call;
DROP TRIGGER tally_dependency;
DROP TRIGGER tally_scope_change;
DROP TRIGGER tally_extension_state_insert;
DROP TRIGGER tally_extension_state_delete;
DROP TABLE tally;
DROP TABLE extension_tally;
ALTER TABLE conversation_soul DROP COLUMN checksum;
ALTER TABLE conversation_soul DROP COLUMN branches;
ALTER TABLE conversation_state DROP COLUMN checksum;
ALTER TABLE conversation_state DROP COLUMN variables;
ALTER TABLE conversation_state DROP COLUMN edges;
ALTER TABLE conversation_state DROP COLUMN scopes;
ALTER TABLE query_soul DROP COLUMN checksum;
ALTER TABLE query_soul DROP COLUMN variables;
ALTER TABLE query_state DROP COLUMN checksum;
ALTER TABLE query_state DROP COLUMN iterations;
ALTER TABLE iteration DROP COLUMN checksum;
ALTER TABLE iteration DROP COLUMN variables;
ALTER TABLE iteration DROP COLUMN states;
ALTER TABLE iteration DROP COLUMN children;
ALTER TABLE iteration DROP COLUMN calls;
ALTER TABLE expression_soul DROP COLUMN checksum;
ALTER TABLE expression_state DROP COLUMN checksum;
ALTER TABLE expression_state DROP COLUMN replaces;
ALTER TABLE expression_dependency DROP COLUMN checksum;
ALTER TABLE scope_change DROP COLUMN checksum;
ALTER TABLE extension_state DROP COLUMN checksum;
ALTER TABLE request_key DROP COLUMN checksum;
ALTER TABLE child_branch DROP COLUMN checksum;
ALTER TABLE sub_call DROP COLUMN checksum;
`;

function upgradeToV1(from: number): string {
  return [...(from < 11 ? [ERASURE] : []), ...(from < 12 ? [PLAIN_ROWS] : []), "DELETE FROM schema_migration;"].join(
    "",
  );
}

/** A column that a migration added is not on its own line, so comments and spaces do not count. */
export function schemaObjects(db: DatabaseSync): ReadonlyMap<string, string> {
  const rows = db.prepare(
    `SELECT type, name, tbl_name AS "on", sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND name <> 'schema_migration'
       AND (type <> 'table' OR name NOT LIKE 'search\\_%' ESCAPE '\\' OR name = 'search_entry') ORDER BY name`,
  ).all();
  return new Map(
    rows.map(({ type, name, on, sql }) => [`${String(type)} ${String(name)}`, `${String(on)}: ${plain(String(sql))}`]),
  );
}

function plain(sql: string): string {
  return sql.replace(/--.*/g, "").replace(/\s+/g, " ").replace(/ ?([(),]) ?/g, "$1");
}

export function schemaDigest(db: DatabaseSync): number {
  const text = JSON.stringify([...schemaObjects(db)]);
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum;
}
