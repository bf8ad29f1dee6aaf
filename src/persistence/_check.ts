import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import type { CheckReport } from "../domain/database_care.ts";
import { markContent } from "./_content_marks.ts";
import { applyDelta } from "./_delta.ts";
import { stepsOf } from "./_delta_steps.ts";
import { openExisting } from "./_existing_database.ts";
import { toStoreError } from "./_store_error.ts";

/** So many of a kind are told one by one. */
const TOLD = 10;

/** `DatabaseCare.check`, of one moment. A fault of the file is a problem in the report, not an error. */
export async function checkDatabase(path: string): Promise<CheckReport> {
  const start = performance.now();
  const { db, version } = await openExisting(path, "check");
  const facts = { contents: 0, unused: 0 };
  const problems: string[] = [];
  try {
    db.exec("BEGIN");
    problems.push(...structure(db), ...schema(db, version), ...foreignKeys(db));
    Object.assign(facts, hashes(db, problems));
    problems.push(...references(db), ...searchIndex(db));
    facts.unused = Number(
      db.prepare("SELECT count(*) AS n FROM content WHERE hash NOT IN (SELECT hash FROM mark)").get()?.n,
    );
  } catch (error) {
    const problem = toStoreError(error, path);
    problems.push(problem instanceof Error ? problem.message : String(problem));
  } finally {
    db.close();
  }
  return { problems, ...facts, schemaVersion: version, ms: performance.now() - start };
}

function structure(db: DatabaseSync): string[] {
  return db.prepare("PRAGMA integrity_check(20)").all().map((row) => String(row.integrity_check))
    .filter((line) => line !== "ok");
}

/** Whether every table, index, view and trigger is the one that the migrations make. */
function schema(db: DatabaseSync, version: number): string[] {
  const made = new DatabaseSync(":memory:");
  try {
    for (const { sql } of migrations.slice(0, version)) made.exec(sql);
    const found = objects(db);
    return [...objects(made)].flatMap(([name, sql]) => {
      if (!found.has(name)) return [`The ${name} is missing`];
      return found.get(name) === sql ? [] : [`The ${name} is not the one of this schema`];
    });
  } finally {
    made.close();
  }
}

function objects(db: DatabaseSync): ReadonlyMap<string, string> {
  const rows = db.prepare(
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  )
    .all();
  return new Map(rows.map(({ type, name, sql }) => [`${String(type)} ${String(name)}`, String(sql)]));
}

function foreignKeys(db: DatabaseSync): string[] {
  const rows = db.prepare(`SELECT "table", "parent", count(*) AS n FROM pragma_foreign_key_check GROUP BY 1, 2`).all();
  return rows.map(({ table, parent, n }) => `${String(n)} rows of ${String(table)} miss their ${String(parent)}`);
}

/** Every text and value against its hash, one in memory at a time. */
function hashes(db: DatabaseSync, problems: string[]): { readonly contents: number } {
  const bad: string[] = [];
  let contents = 0;
  const bytesOf = db.prepare("SELECT encoding, bytes FROM content WHERE hash = ?");
  for (const row of db.prepare("SELECT hash, encoding, bytes, base, steps FROM content").iterate()) {
    contents++;
    const hash = createHash("sha256");
    try {
      if (row.encoding !== "delta") pieces(row, bytesOf, (piece) => hash.update(piece));
      else {
        const base: Uint8Array[] = [];
        pieces(bytesOf.get(String(row.base)) ?? {}, bytesOf, (piece) => base.push(piece));
        const literals = new Uint8Array(bytes(row.bytes));
        hash.update(applyDelta(new Uint8Array(Buffer.concat(base)), { steps: stepsOf(String(row.steps)), literals }));
      }
      if (hash.digest("hex") !== row.hash) bad.push(String(row.hash));
    } catch {
      bad.push(String(row.hash));
    }
  }
  problems.push(...bad.slice(0, TOLD).map((one) => `The content ${one} is not what was stored`));
  if (bad.length > TOLD) problems.push(`${bad.length - TOLD} more contents are not what was stored`);
  return { contents };
}

type Row = Readonly<Record<string, unknown>>;

function pieces(row: Row, bytesOf: { get(hash: string): Row | undefined }, give: (piece: Uint8Array) => void): void {
  if (row.encoding === "raw") return give(bytes(row.bytes));
  const list: unknown = JSON.parse(new TextDecoder().decode(bytes(row.bytes)));
  if (!Array.isArray(list)) throw new TypeError("A list of pieces is none");
  for (const hash of list) {
    const piece = bytesOf.get(String(hash));
    if (piece?.encoding !== "raw") throw new TypeError(`The piece ${hash} is missing`);
    give(bytes(piece.bytes));
  }
}

function bytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError("The content is no bytes");
}

/** References to content that is not there. */
function references(db: DatabaseSync): string[] {
  markContent(db);
  const rows = db.prepare(
    `SELECT origin, count(*) AS n, min(hash) AS hash FROM mark WHERE hash NOT IN (SELECT hash FROM content) GROUP BY origin`,
  ).all();
  return rows.map(({ origin, n, hash }) =>
    `${String(n)} references of ${String(origin)} lead to content that is missing, such as sha256:${String(hash)}`
  );
}

/** Whether the search index knows what the tables hold; the row counts are enough, triggers do the rest. */
function searchIndex(db: DatabaseSync): string[] {
  const [row] = db.prepare(
    `SELECT (SELECT count(*) FROM query_soul WHERE query IS NOT NULL) + (SELECT count(*) FROM expression_state WHERE
       expr IS NOT NULL) AS texts,
     (SELECT count(*) FROM search_entry WHERE field <> 'answer') AS entries,
     (SELECT count(*) FROM search_entry WHERE id NOT IN (SELECT rowid FROM search)) AS lost`,
  ).all();
  if (row?.texts === row?.entries && row?.lost === 0) return [];
  return [`The search index holds ${String(row?.entries)} of ${String(row?.texts)} texts`];
}
