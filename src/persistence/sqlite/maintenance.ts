import { link, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileCode, StoreError, UsageError } from "../../domain/errors.ts";
import { ensureFolder, renameOver } from "../../domain/kit/files.ts";
import type {
  BackupReport,
  DatabaseRestoreReport,
  DatabaseStats,
  PruneReport,
  VacuumReport,
} from "../../domain/records/database_maintenance.ts";
import { lastUsedIn } from "../conversations.ts";
import { collectContent, removeUnused } from "../unused_long_values.ts";
import { checkDatabase, refuseDamaged } from "./check_database.ts";
import { SqliteConnection, tableRows, Transactions } from "./connection.ts";
import { copyDatabase, modeOf, writeFresh } from "./copy_database.ts";
import { closeOnce, notAlone, openAlone, openDatabase, openExisting } from "./open_database.ts";
import { isDamaged, isNoDatabase, systemError, toStoreError } from "./sqlite_error.ts";
import type * as care from "../../domain/records/database_maintenance.ts";

const BUSY_MS = 10_000;

export class SqliteMaintenance implements care.DatabaseMaintenance {
  readonly location: string;
  readonly #now: () => number;

  constructor({ path, now = Date.now }: { readonly path: string; readonly now?: () => number }) {
    this.location = path;
    this.#now = now;
  }

  backup(target: string): Promise<care.BackupReport> {
    return this.#guard(() => backupDatabase(this.location, target));
  }

  restore(source: string): Promise<care.DatabaseRestoreReport> {
    return this.#guard(() => restoreDatabase(this.location, { source, now: this.#now }));
  }

  check(): Promise<care.CheckReport> {
    return this.#guard(() => checkDatabase(this.location));
  }

  stats(): Promise<care.DatabaseStats> {
    return this.#guard(() => databaseStats(this.location));
  }

  prune({ before, dryRun }: { readonly before: number; readonly dryRun: boolean }): Promise<care.PruneReport> {
    return this.#guard(async () => {
      (await openExisting(this.location, "prune")).db.close();
      const { db } = await openDatabase(this.location, this.#now);
      const options = { before, now: this.#now(), dryRun, busyMs: BUSY_MS };
      const pruned = await pruneRows(db, options).finally(() => db.close());
      const collected = dryRun
        ? { contents: 0, contentBytes: 0, everything: false }
        : await collectContent(this.location, { now: this.#now(), busyMs: BUSY_MS });
      return { dryRun, ...pruned, ...collected };
    });
  }

  vacuum(): Promise<care.VacuumReport> {
    return this.#guard(() => vacuumDatabase(this.location));
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toStoreError(error, this.location);
    }
  }
}

async function backupDatabase(path: string, target: string): Promise<BackupReport> {
  const start = performance.now();
  const goal = resolve(target);
  if (await exists(goal)) throw taken(goal);
  if (await stat(dirname(goal)).then(() => false, (error) => fileCode(error) === "ENOENT")) {
    throw new UsageError(`Cannot back up to ${goal}: its folder does not exist; create the folder first`);
  }
  const { db, schema } = await openExisting(path, "back up");
  try {
    const partial = `${goal}.partial-${crypto.randomUUID().slice(0, 8)}`;
    const bytes = await copyDatabase(db, { target: partial, like: path });
    const copy = new DatabaseSync(partial);
    try {
      refuseDamaged(copy, { doing: `back up ${path}`, path: partial, schema });
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    } finally {
      copy.close();
    }
    await appear(partial, goal);
    return { path: goal, bytes, schemaVersion: schema.version, ms: performance.now() - start };
  } catch (error) {
    throw (error instanceof Error && systemError(error, goal, { isBackup: true })) || error;
  } finally {
    db.close();
  }
}

/** `link` fails if the name exists. On a file system without hard links, Vis relies on `exists`. */
async function appear(partial: string, goal: string): Promise<void> {
  try {
    await link(partial, goal);
    await rm(partial);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      await rm(partial, { force: true });
      throw taken(goal);
    }
    await renameOver(partial, goal);
  }
}

function taken(goal: string): UsageError {
  return new UsageError(`Cannot back up to ${goal}: it already exists; choose another path`);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}

/** `openStore` waits less than this time for a lock, then opens the path again, and finds the new file. */
const NEWCOMER_MS = 120;

async function restoreDatabase(
  path: string,
  { source, now }: { readonly source: string; readonly now: () => number },
): Promise<DatabaseRestoreReport> {
  const start = performance.now();
  if (path === ":memory:") {
    throw new UsageError("Cannot restore a database in memory: it has no file; name a file with --db");
  }
  const from = resolve(source);
  if (await realpath(from).catch(() => from) === await realpath(path).catch(() => path)) {
    throw new UsageError(`Cannot restore ${from}: it is the database itself; name a backup`);
  }
  const { db, schema } = await openExisting(from, "restore").catch((error) => {
    if (error instanceof UsageError) throw error;
    throw isNoDatabase(error)
      ? new UsageError(`Cannot restore ${from}: it is not a database; name a backup`)
      : toStoreError(error, from);
  });
  const partial = `${path}.restoring`;
  try {
    refuseDamaged(db, { doing: `restore ${from}`, advice: "restore another backup", path: from, schema });
    await ensureFolder(dirname(path));
    const bytes = await copyDatabase(db, { target: partial, like: path, mode: await modeOf(path) });
    const keptAs = await replace(path, { partial, kept: `${path}.before-restore-${stamp(now())}` });
    return { path, bytes, keptAs, schemaVersion: schema.version, ms: performance.now() - start };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    db.close();
  }
}

async function replace(
  path: string,
  { partial, kept }: { readonly partial: string; readonly kept: string },
): Promise<string | null> {
  if (!await exists(path)) {
    await dropLog(path);
    await renameOver(partial, path);
    return null;
  }
  const lock = lockAlone(path);
  const release = lock === null ? () => {} : closeOnce(lock);
  try {
    const aside = await freeName(kept);
    await renameOver(path, aside, { release });
    // A log remains if SQLite cannot open the file, and moves with the file.
    for (const end of ["-wal", "-shm"]) await rename(`${path}${end}`, `${aside}${end}`).catch(() => undefined);
    await renameOver(partial, path).catch(async (error: unknown) => {
      await renameOver(aside, path);
      throw error;
    });
    if (lock) await sleep(NEWCOMER_MS);
    return aside;
  } finally {
    release();
  }
}

/** Two restores can have the same second, and a rename would replace the database that the first one kept. */
async function freeName(path: string): Promise<string> {
  let name = path;
  for (let count = 2; await exists(name); count++) name = `${path}-${count}`;
  return name;
}

function lockAlone(path: string): DatabaseSync | null {
  try {
    const db = openAlone(path);
    if (db === null) throw notAlone("replace database", path);
    db.exec("BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (isDamaged(error)) return null;
    throw error;
  }
}

async function dropLog(path: string): Promise<void> {
  for (const end of ["-wal", "-shm"]) await rm(`${path}${end}`, { force: true });
}

/** Local time is ambiguous after clocks are set back. */
function stamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
}

async function vacuumDatabase(path: string): Promise<VacuumReport> {
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
    // Content of an interrupted deletion must not reach the new file.
    removeUnused(db);
    const { size: bytesBefore } = await stat(path);
    await writeFresh(partial, { like: path, mode: await modeOf(path) }, () => rebuild(db, { path, target: partial }));
    await renameOver(partial, path, { release: close });
    await sleep(NEWCOMER_MS);
    return { bytesBefore, bytesAfter: (await stat(path)).size, ms: performance.now() - start };
  } finally {
    for (const end of ["", "-journal"]) await rm(`${partial}${end}`, { force: true });
    close();
  }
}

const MADE_BY_SEARCH = "search\\_%";

/** `VACUUM` attaches a database, which the runtime refuses to a program without full permissions. */
function rebuild(db: DatabaseSync, { path, target }: { readonly path: string; readonly target: string }): void {
  const made = new DatabaseSync(target, { enableForeignKeyConstraints: false });
  try {
    made.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    for (const { sql } of objects(db, "type = 'table'")) made.exec(sql);
    for (const { name } of objects(db, "type = 'table'")) copyRows(db, { made, table: name });
    // Triggers would fire for the copied rows, so Vis creates them after the rows.
    for (const { sql } of objects(db, "type <> 'table'")) made.exec(sql);
    made.exec("COMMIT; INSERT INTO search (search) VALUES ('optimize'); PRAGMA synchronous = FULL");
    made.exec("PRAGMA journal_mode = DELETE");
    for (const { name } of objects(db, "type = 'table'")) compare(db, { made, table: name, path });
    const [found] = made.prepare("PRAGMA integrity_check(1)").all();
    if (found?.integrity_check !== "ok") {
      throw unsound(`is damaged (${String(found?.integrity_check).replaceAll("\n", " ")})`, path);
    }
  } finally {
    made.close();
  }
}

function objects(db: DatabaseSync, which: string): readonly { readonly name: string; readonly sql: string }[] {
  return db.prepare(
    `SELECT name, sql FROM sqlite_master WHERE ${which} AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND (type <> 'table' OR name NOT LIKE '${MADE_BY_SEARCH}' ESCAPE '\\' OR name = 'search_entry')
     ORDER BY type = 'trigger', rowid`,
  ).all().map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
}

function copyRows(
  db: DatabaseSync,
  { made, table }: { readonly made: DatabaseSync; readonly table: string },
): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => `"${String(name)}"`);
  const names = ["rowid", ...columns].join(", ");
  const marks = ["?", ...columns.map(() => "?")].join(", ");
  const insert = made.prepare(`INSERT INTO "${table}" (${names}) VALUES (${marks})`);
  const aliased = columns.map((column, at) => `${column} AS c${at}`).join(", ");
  for (const row of tableRows(db, { table, columns: aliased })) {
    insert.run(row.place ?? null, ...columns.map((_, at) => row[`c${at}`] ?? null));
  }
}

function compare(
  db: DatabaseSync,
  { made, table, path }: { readonly made: DatabaseSync; readonly table: string; readonly path: string },
): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => `"${String(name)}"`);
  const sums = columns.map((column, at) =>
    `total(length(${column})) AS l${at}, group_concat(DISTINCT typeof(${column}) ORDER BY typeof(${column})) AS t${at}`
  );
  const sql = `SELECT count(*) AS n, ${sums.join(", ")} FROM "${table}"`;
  const [before, after] = [db, made].map((one) => JSON.stringify(one.prepare(sql).get()));
  if (before !== after) throw unsound(`differs from the old one in table ${table}`, path);
}

function unsound(fault: string, path: string): StoreError {
  return new StoreError(
    `Cannot vacuum ${path}: the new file ${fault}, and Vis keeps the old file; vis db check ` +
      "shows whether the database is damaged",
    "corrupt",
  );
}

interface Options {
  readonly before: number;
  readonly now: number;
  readonly dryRun: boolean;
  readonly busyMs: number;
}

/** The process of a running query renews its lease more often than this. */
const STALE_MS = 120_000;

const titleOf = (conversation: string): string =>
  `(SELECT f.title FROM conversation_state_full f WHERE f.id = ${lastUsedIn(conversation)})`;

const REQUESTS = "count(DISTINCT iif(k.conversation_state_id IS NULL, q.id, NULL))";

const idle = (which: string): string =>
  `WITH activity AS (
  SELECT b.conversation_soul_id AS id, max(b.created_at, coalesce(max(q.created_at), 0), coalesce(max(r.created_at), 0),
    coalesce(max(i.created_at), 0), coalesce(max(i.finished_at), 0)) AS last, ${REQUESTS} AS queries,
    sum(r.status = 'running') AS running, max(l.heartbeat_at) AS heartbeat
  FROM conversation_state b LEFT JOIN query_soul q ON q.conversation_state_id = b.id
  LEFT JOIN query_state r ON r.query_soul_id = q.id LEFT JOIN iteration i ON i.query_state_id = r.id
  LEFT JOIN lease l ON l.conversation_state_id = b.id
  LEFT JOIN child_branch k ON k.conversation_state_id = b.id
  ${which}
  GROUP BY b.id
)
SELECT id, max(last) AS last, sum(queries) AS queries,
  ${titleOf("a.id")} AS title
FROM activity a GROUP BY id
HAVING max(last) < :before AND coalesce(max(heartbeat), 0) < :before
  AND (coalesce(sum(running), 0) = 0 OR coalesce(max(heartbeat), 0) < :stale) ORDER BY last`;
const ALL = idle("");
const ONE = idle("WHERE b.conversation_soul_id = :id");

const LOG_ROWS_AT_ONCE = 2_000;

/** Another writer waits about this time for a transaction, plus the time of one conversation. */
const TRANSACTION_MS = 25;

async function pruneRows(
  db: DatabaseSync,
  { before, now, dryRun, busyMs }: Options,
): Promise<Pick<PruneReport, "conversations" | "logRows">> {
  const stale = now - STALE_MS;
  const found = db.prepare(ALL).all({ before, stale });
  const listed = found.map(({ id, title, queries, last }) => ({
    conversationId: String(id),
    title: String(title ?? ""),
    queries: Number(queries),
    lastActivity: Number(last),
  }));
  const logRows = Number(db.prepare("SELECT count(*) AS n FROM log WHERE created_at < ?").get(before)?.n);
  if (dryRun) return { conversations: listed, logRows };
  const transactions = new Transactions(new SqliteConnection(db), { busyMs });
  const conversations = [];
  // The runtime keeps the memory of each statement, so Vis prepares the statements once.
  const idleOne = db.prepare(ONE);
  db.exec("PRAGMA secure_delete = ON");
  const remove = db.prepare("DELETE FROM conversation_soul WHERE id = ?");
  for (let at = 0; at < listed.length;) {
    const begun = at;
    const gone = await transactions.write(() => {
      const start = performance.now();
      const removed = [];
      for (at = begun; at < listed.length; at++) {
        const one = listed[at];
        if (at > begun && performance.now() - start > TRANSACTION_MS) break;
        // A query may have begun after the first check.
        if (!one || !idleOne.get({ before, stale, id: one.conversationId })) continue;
        remove.run(one.conversationId);
        removed.push(one);
      }
      return removed;
    });
    conversations.push(...gone);
  }
  // Without this merge, words of deleted texts would stay in the index.
  if (conversations.length > 0) {
    await transactions.write(() => db.exec("INSERT INTO search (search) VALUES ('optimize')"));
  }
  const some = db.prepare(
    "DELETE FROM log WHERE rowid IN (SELECT rowid FROM log WHERE created_at < ? ORDER BY created_at LIMIT ?)",
  );
  const work = (): number => Number(some.run(before, LOG_ROWS_AT_ONCE).changes);
  while (await transactions.write(work) > 0);
  return { conversations, logRows };
}

const MOST = 10;

async function databaseStats(path: string): Promise<DatabaseStats> {
  const { db, schema } = await openExisting(path, "measure");
  try {
    db.exec("BEGIN");
    const pages = db.prepare(
      "SELECT page_size AS size, freelist_count AS free FROM pragma_page_size, pragma_freelist_count",
    ).get();
    return {
      path,
      fileBytes: await sizeOf(path),
      walBytes: await sizeOf(`${path}-wal`),
      freeBytes: Number(pages?.size) * Number(pages?.free),
      schemaVersion: schema.version,
      sqliteVersion: String(db.prepare("SELECT sqlite_version() AS version").get()?.version),
      tables: tables(db),
      content: content(db),
      conversations: conversations(db),
    };
  } finally {
    db.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(({ size }) => size, () => 0);
}

function tables(db: DatabaseSync): DatabaseStats["tables"] {
  const sizes = db.prepare(
    `SELECT CASE WHEN m.tbl_name GLOB 'search_*' AND m.tbl_name <> 'search_entry' THEN 'search' ELSE m.tbl_name END
       AS name, sum(d.pgsize) AS bytes
     FROM dbstat d JOIN sqlite_master m ON m.name = d.name WHERE d.aggregate = 1 GROUP BY 1 ORDER BY bytes DESC`,
  ).all();
  return sizes.map(({ name, bytes }) => ({
    table: String(name),
    rows: Number(db.prepare(`SELECT count(*) AS n FROM "${String(name)}"`).get()?.n),
    bytes: Number(bytes),
  }));
}

function content(db: DatabaseSync): DatabaseStats["content"] {
  const rows = db.prepare(
    `SELECT encoding, count(*) AS n, sum(length(bytes) + coalesce(length(steps), 0)) AS bytes FROM content
     GROUP BY encoding ORDER BY bytes DESC`,
  ).all();
  return rows.map(({ encoding, n, bytes }) => ({ encoding: String(encoding), rows: Number(n), bytes: Number(bytes) }));
}

function conversations(db: DatabaseSync): DatabaseStats["conversations"] {
  const listed = db.prepare(
    `SELECT b.conversation_soul_id AS id, ${REQUESTS} AS queries, count(i.id) AS iterations,
       (SELECT count(*) FROM expression_state e JOIN expression_soul s ON s.id = e.expression_soul_id
        JOIN conversation_state c ON c.id = s.conversation_state_id
        WHERE c.conversation_soul_id = b.conversation_soul_id AND s.kind = 'var') AS versions,
       ${titleOf("b.conversation_soul_id")} AS title
     FROM conversation_state b LEFT JOIN query_soul q ON q.conversation_state_id = b.id
     LEFT JOIN query_state r ON r.query_soul_id = q.id LEFT JOIN iteration i ON i.query_state_id = r.id
     LEFT JOIN child_branch k ON k.conversation_state_id = b.id
     GROUP BY 1 ORDER BY iterations + versions DESC LIMIT ?`,
  ).all(MOST);
  const bytesOf = db.prepare(BYTES);
  return listed.map(({ id, title, queries, iterations, versions }) => ({
    conversationId: String(id),
    title: String(title ?? ""),
    queries: Number(queries),
    iterations: Number(iterations),
    versions: Number(versions),
    bytes: Number(bytesOf.get(String(id))?.bytes ?? 0),
  }));
}

const BYTES = `WITH steps (id) AS (
  SELECT i.id FROM conversation_state b JOIN query_soul q ON q.conversation_state_id = b.id
  JOIN query_state r ON r.query_soul_id = q.id JOIN iteration i ON i.query_state_id = r.id
  WHERE b.conversation_soul_id = ?1
), cells (cell) AS (
  SELECT j.value FROM steps s JOIN iteration i ON i.id = s.id, json_each(json_array(i.llm_system_prompt,
    i.llm_user_prompt, i.llm_response, i.llm_thinking, i.llm_traces, i.llm_error, i.metadata)) j
  UNION SELECT j.value FROM steps s JOIN expression_state e ON e.iteration_id = s.id,
    json_each(json_array(CASE typeof(e.result) WHEN 'text' THEN e.result END,
    CASE typeof(e.error) WHEN 'text' THEN e.error END, e.stdout, e.stderr, e.metadata)) j
  UNION SELECT x.value FROM conversation_state b JOIN extension_state x ON x.conversation_state_id = b.id
    WHERE b.conversation_soul_id = ?1
), named (hash) AS (
  SELECT substr(cell, 8) FROM cells WHERE cell GLOB 'sha256:*'
), whole (hash) AS (
  SELECT hash FROM named
  UNION SELECT c.base FROM named n JOIN content c ON c.hash = n.hash WHERE c.encoding = 'delta'
), parts (hash) AS (
  SELECT hash FROM whole
  UNION SELECT j.value FROM whole w JOIN content c ON c.hash = w.hash AND c.encoding = 'chunks',
    json_each(CAST(c.bytes AS TEXT)) j
)
SELECT sum(length(c.bytes)) AS bytes FROM parts p JOIN content c ON c.hash = p.hash`;
