import { sql } from "kysely";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { messageOf, StoreError } from "../../domain/errors.ts";
import { counted } from "../../domain/kit/text.ts";
import type { CheckReport } from "../../domain/records/database_maintenance.ts";
import { applyDelta, stepsOf } from "../long_values.ts";
import type { Database } from "../database.ts";
import { tableRows } from "./connection.ts";
import { type FoundSchema, schemaProblems } from "./migrate.ts";
import { openExisting } from "./open_database.ts";
import { isBusy, systemError, toStoreError } from "./sqlite_error.ts";
import { columnsOf, snakeCase, type UserTable } from "../tables.ts";
import { markContent } from "../unused_long_values.ts";

const TOLD = 10;

/** Damage becomes a problem in the report. */
export async function checkDatabase(path: string): Promise<CheckReport> {
  const start = performance.now();
  const { db, schema } = await openExisting(path, "check");
  try {
    return { ...checkAll(db, { path, schema }), schemaVersion: schema.version, ms: performance.now() - start };
  } finally {
    db.close();
  }
}

function checkAll(
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
    () => {
      const missing = references(db);
      facts.unused = unused(db);
      return missing;
    },
    () => searchIndex(db),
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
    return [`Vis cannot read a part of the database: ${messageOf(error)}`];
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
  return rows.map(({ table, parent, n }) =>
    `In ${String(table)}, the row of ${String(parent)} is missing for ${counted(Number(n), "row")}`
  );
}

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
  const named = bad.slice(0, TOLD).map((one) =>
    `The content ${one} has changed since Vis stored it, or a part of it is missing${contentUsers(db, one)}`
  );
  return bad.length > TOLD ? [...named, `The same applies to ${counted(bad.length - TOLD, "other content")}`] : named;
}

function values(db: DatabaseSync): string[] {
  const bad: string[] = [];
  const columns = "id, result, json_extract(metadata, '$.crc') AS crc";
  const where = "typeof(result) = 'blob' AND json_valid(metadata) AND json_extract(metadata, '$.crc') IS NOT NULL";
  for (const { id, result, crc } of tableRows(db, { table: "expression_state", columns, where })) {
    if (result instanceof Uint8Array && crc32(result) !== Number(crc)) bad.push(String(id));
  }
  const named = bad.slice(0, TOLD).map((id) =>
    `The value ${id} has changed since Vis stored it${rowPlace(db, { table: "expressionState", id })}`
  );
  return bad.length > TOLD ? [...named, `The same applies to ${counted(bad.length - TOLD, "other value")}`] : named;
}

type Row = Readonly<Record<string, unknown>>;

function pieces(row: Row, bytesOf: { get(hash: string): Row | undefined }, give: (piece: Uint8Array) => void): void {
  if (row.encoding === "raw") return give(bytes(row.bytes));
  const list: unknown = JSON.parse(new TextDecoder().decode(bytes(row.bytes)));
  if (!Array.isArray(list)) throw new TypeError("The list of pieces is not a list");
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

function references(db: DatabaseSync): string[] {
  markContent(db);
  const rows = db.prepare(
    `SELECT origin, count(*) AS n, min(hash) AS hash FROM mark WHERE hash NOT IN (SELECT hash FROM content) GROUP BY origin`,
  ).all();
  return rows.map(({ origin, n, hash }) =>
    `In ${String(origin)}, content is missing for ${counted(Number(n), "reference")}, such as sha256:${String(hash)}`
  );
}

/** `PRAGMA integrity_check` compares the words of the index with its texts, so this function compares only the texts. */
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
  const { texts, entries, lost } = row ?? {};
  if (texts === entries && lost === 0) return [];
  return lost === 0
    ? [`The search index has ${String(entries)} entries for ${String(texts)} texts`]
    : [`The search index does not match ${String(lost)} of ${String(texts)} texts`];
}

/** A file that Vis makes from a damaged database would seem sound. */
export function refuseDamaged(
  db: DatabaseSync,
  { doing, advice, ...found }: Parameters<typeof checkAll>[1] & { readonly doing: string; readonly advice?: string },
): void {
  const [problem] = checkAll(db, found).problems;
  if (problem === undefined) return;
  throw new StoreError(
    `Cannot ${doing}: it is damaged (${problem}), and Vis changed nothing; ` +
      (advice ?? "vis db check lists the damage, and vis db restore COPY restores a backup"),
    "corrupt",
  );
}

const MOST = 3;

type Referring = Exclude<UserTable, "log">;

function contentUsers(db: DatabaseSync, hash: string): string {
  const found = new Set<string>();
  for (const [table, column] of referringColumns(db)) {
    const [first = ""] = Object.entries(columnsOf(table)).flatMap(([name, { kind }]) => kind === "place" ? [] : [name]);
    const where = column === "metadata" ? `instr("${column}", ?) > 0` : `"${column}" = 'sha256:' || ?`;
    const rows = db.prepare(
      `SELECT ${snakeCase(first)} AS id FROM ${snakeCase(table)} NOT INDEXED WHERE ${where} LIMIT ?`,
    )
      .all(hash, MOST);
    for (const { id } of rows) {
      found.add(rowPlace(db, { table, id: String(id) }));
    }
    if (found.size >= MOST) break;
  }
  found.delete("");
  return [...found].slice(0, MOST).join("");
}

function referringColumns(db: DatabaseSync): readonly (readonly [Referring, string])[] {
  return (Object.keys(BRANCH) as Referring[]).flatMap((table) =>
    db.prepare("SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB') AND name NOT LIKE '%id'")
      .all(snakeCase(table)).map(({ name }) => [table, String(name)] as const)
  );
}

const BRANCH: Readonly<Record<Referring, string>> = {
  conversationSoul: "SELECT id FROM conversation_state WHERE conversation_soul_id = ?",
  conversationState: "SELECT ?",
  querySoul: "SELECT conversation_state_id FROM query_soul WHERE id = ?",
  queryState: ofRun("r.id = ?"),
  iteration: ofRun("r.id = (SELECT query_state_id FROM iteration WHERE id = ?)"),
  expressionSoul: "SELECT conversation_state_id FROM expression_soul WHERE id = ?",
  expressionState: ofSoul("s.id = (SELECT expression_soul_id FROM expression_state WHERE id = ?)"),
  expressionDependency: "SELECT conversation_state_id FROM expression_dependency WHERE id = ?",
  scopeChange: ofSoul("s.id = ?"),
  extensionState: "SELECT conversation_state_id FROM extension_state WHERE id = ?",
  requestKey: "SELECT ?",
  childBranch: "SELECT ?",
  subCall: ofRun(
    "r.id = (SELECT i.query_state_id FROM sub_call c JOIN iteration i ON i.id = c.iteration_id WHERE c.id = ?)",
  ),
};

const VARIABLE: { readonly [T in Referring]?: string } = {
  expressionSoul: "SELECT name FROM expression_soul WHERE id = ?",
  expressionState:
    "SELECT name FROM expression_soul WHERE id = (SELECT expression_soul_id FROM expression_state WHERE id = ?)",
  scopeChange: "SELECT name FROM expression_soul WHERE id = ?",
};

function rowPlace(db: DatabaseSync, { table, id }: { readonly table: Referring; readonly id: string }): string {
  const find = (sql: string): string | null => {
    try {
      const [found] = db.prepare(sql).all(id).flatMap((cells) => Object.values(cells));
      return typeof found === "string" ? found : null;
    } catch {
      return null;
    }
  };
  const variable = VARIABLE[table] === undefined ? null : find(VARIABLE[table]);
  const conversation = find(`SELECT conversation_soul_id FROM conversation_state WHERE id IN (${BRANCH[table]})`);
  const places = [
    ...(variable === null ? [] : [`variable ${variable}`]),
    ...(conversation === null ? [] : [`conversation ${conversation}`]),
  ];
  return places.length === 0 ? "" : ` (${places.join(" of ")})`;
}

function ofRun(where: string): string {
  return `SELECT q.conversation_state_id FROM query_state r JOIN query_soul q ON q.id = r.query_soul_id WHERE ${where}`;
}

function ofSoul(where: string): string {
  return `SELECT s.conversation_state_id FROM expression_soul s WHERE ${where}`;
}

export async function quickCheck(db: Database, location: string): Promise<readonly string[]> {
  try {
    const structure = await sql<{ quickCheck: string }>`PRAGMA quick_check`.execute(db);
    const foreign = await sql<{ table: string }>`PRAGMA foreign_key_check`.execute(db);
    return [
      ...structure.rows.map((row) => row.quickCheck).filter((line) => line !== "ok"),
      ...foreign.rows.map((row) => `A row of ${row.table} refers to a missing row`),
    ];
  } catch (error) {
    const problem = toStoreError(error, location);
    return [messageOf(problem)];
  }
}
