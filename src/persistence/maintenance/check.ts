import { messageOf } from "../../domain/errors.ts";
import type { CheckReport } from "../../domain/records/database_maintenance.ts";
import { contentUsers, rowPlace } from "../content/content_users.ts";
import { stepsOf } from "../content/delta_steps.ts";
import { applyDelta } from "../content/delta.ts";
import { markContent } from "../content/marks.ts";
import { schemaProblems } from "../schema/schema_problems.ts";
import { isBusy } from "../sqlite/error_kinds.ts";
import { openExisting } from "../sqlite/existing_database.ts";
import type { FoundSchema } from "../sqlite/migrate.ts";
import { systemError } from "../sqlite/store_error.ts";
import { tableRows } from "../sqlite/table_rows.ts";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { DatabaseSync } from "node:sqlite";

/** At most this many problems of a kind are listed individually. */
const TOLD = 10;

/** `DatabaseMaintenance.check`, on one snapshot. Damage to the file is reported as a problem, not thrown as an
 * error. */
export async function checkDatabase(path: string): Promise<CheckReport> {
  const start = performance.now();
  const { db, schema } = await openExisting(path, "check");
  try {
    return { ...checkAll(db, { path, schema }), schemaVersion: schema.version, ms: performance.now() - start };
  } finally {
    db.close();
  }
}

/** Describes every problem found in a database, and counts the contents that were read. Each part is checked even if
 * another one cannot be read. */
export function checkAll(
  db: DatabaseSync,
  { path, schema }: { readonly path: string; readonly schema: FoundSchema },
): Pick<CheckReport, "problems" | "contents" | "unused"> {
  const facts = { contents: 0, unused: 0 };
  const problems: string[] = [];
  const parts: readonly (() => readonly string[])[] = [
    () => structure(db),
    () => schemaProblems(db, schema),
    () => foreignKeys(db),
    () => {
      const { contents, bad } = hashes(db);
      facts.contents = contents;
      return badContents(db, bad);
    },
    () => values(db),
    () => references(db),
    () => searchIndex(db),
    () => {
      facts.unused = unused(db);
      return [];
    },
  ];
  db.exec("BEGIN");
  try {
    for (const part of parts) problems.push(...attempt(part, path));
  } finally {
    db.exec("ROLLBACK");
  }
  return { problems: [...new Set(problems)], ...facts };
}

function attempt(part: () => readonly string[], path: string): readonly string[] {
  try {
    return part();
  } catch (error) {
    if (isBusy(error) || (error instanceof Error && systemError(error, path))) throw error;
    return [`A part of it cannot be read: ${messageOf(error)}`];
  }
}

function unused(db: DatabaseSync): number {
  return Number(db.prepare("SELECT count(*) AS n FROM content WHERE hash NOT IN (SELECT hash FROM mark)").get()?.n);
}

function structure(db: DatabaseSync): string[] {
  return db.prepare("PRAGMA integrity_check(20)").all().map((row) => String(row.integrity_check))
    .filter((line) => line !== "ok");
}

function foreignKeys(db: DatabaseSync): string[] {
  const rows = db.prepare(`SELECT "table", "parent", count(*) AS n FROM pragma_foreign_key_check GROUP BY 1, 2`).all();
  return rows.map(({ table, parent, n }) => `${String(n)} rows of ${String(table)} miss their ${String(parent)}`);
}

/** Checks every text and value against its hash, one in memory at a time. */
function hashes(db: DatabaseSync): { readonly contents: number; readonly bad: readonly string[] } {
  const bad: string[] = [];
  let contents = 0;
  const bytesOf = db.prepare("SELECT encoding, bytes FROM content WHERE hash = ?");
  for (const row of tableRows(db, { table: "content", columns: "hash, encoding, bytes, base, steps" })) {
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
  return { contents, bad };
}

function badContents(db: DatabaseSync, bad: readonly string[]): string[] {
  const named = bad.slice(0, TOLD).map((one) => `The content ${one} is not what was stored${contentUsers(db, one)}`);
  return bad.length > TOLD ? [...named, `${bad.length - TOLD} more contents are not what was stored`] : named;
}

/** Compares every short value of a variable with its check. */
function values(db: DatabaseSync): string[] {
  const bad: string[] = [];
  const columns = "id, result, json_extract(metadata, '$.crc') AS crc";
  const where = "typeof(result) = 'blob' AND json_valid(metadata) AND json_extract(metadata, '$.crc') IS NOT NULL";
  for (const { id, result, crc } of tableRows(db, { table: "expression_state", columns, where })) {
    if (result instanceof Uint8Array && crc32(result) !== Number(crc)) bad.push(String(id));
  }
  const named = bad.slice(0, TOLD).map((id) =>
    `The value ${id} is not what was stored${rowPlace(db, { table: "expressionState", id })}`
  );
  return bad.length > TOLD ? [...named, `${bad.length - TOLD} more values are not what was stored`] : named;
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
  throw new TypeError("The content is not bytes");
}

/** References to missing content. */
function references(db: DatabaseSync): string[] {
  markContent(db);
  const rows = db.prepare(
    `SELECT origin, count(*) AS n, min(hash) AS hash FROM mark WHERE hash NOT IN (SELECT hash FROM content) GROUP BY origin`,
  ).all();
  return rows.map(({ origin, n, hash }) =>
    `${String(n)} references of ${String(origin)} lead to content that is missing, such as sha256:${String(hash)}`
  );
}

/** Whether the search index has the texts that the tables hold. Whether its words match its texts is part of the
 * structural check. */
function searchIndex(db: DatabaseSync): string[] {
  const [row] = db.prepare(
    `WITH texts AS (
       SELECT 'query_soul' AS owner_table, id AS owner_id, 'query' AS field, query AS text FROM query_soul
       WHERE query IS NOT NULL
       UNION ALL SELECT 'expression_state', id, 'expr', expr FROM expression_state WHERE expr IS NOT NULL
       UNION ALL SELECT 'query_state', id, 'answer', json_extract(metadata, '$.answer') FROM query_state_full
       WHERE json_extract(metadata, '$.answer') <> ''
       UNION ALL SELECT 'query_state', id, 'steered', (
         SELECT group_concat(json_extract(m.value, '$.text'), char(10) ORDER BY m.key)
         FROM json_each(metadata, '$.steered') m
       ) FROM query_state_full WHERE json_extract(metadata, '$.steered[0].text') <> ''
     )
     SELECT (SELECT count(*) FROM search_entry) AS entries, count(*) AS texts,
       coalesce(sum(s.text IS NOT t.text OR s.owner_id IS NOT t.owner_id OR s.field IS NOT t.field), 0) AS lost
     FROM texts t
     LEFT JOIN search_entry n ON n.owner_id = t.owner_id AND n.owner_table = t.owner_table AND n.field = t.field
     LEFT JOIN search s ON s.rowid = n.id`,
  ).all();
  if (row?.texts === row?.entries && row?.lost === 0) return [];
  return [`The search index does not hold ${String(row?.lost)} of ${String(row?.texts)} texts as they are`];
}
