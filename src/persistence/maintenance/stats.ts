import { stat } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import type { DatabaseStats } from "../../domain/records/database_maintenance.ts";
import { openExisting } from "../sqlite/existing_database.ts";

const LARGEST = 10;

/** `DatabaseMaintenance.stats`, on one snapshot. */
export async function databaseStats(path: string): Promise<DatabaseStats> {
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

/** Bytes of a table and its indexes; the tables of the full-text index count towards `search`. */
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
  const largest = db.prepare(
    `SELECT b.conversation_soul_id AS id, count(DISTINCT q.id) AS queries, count(i.id) AS iterations,
       (SELECT count(*) FROM expression_state e JOIN expression_soul s ON s.id = e.expression_soul_id
        JOIN conversation_state c ON c.id = s.conversation_state_id
        WHERE c.conversation_soul_id = b.conversation_soul_id AND s.kind = 'var') AS versions,
       (SELECT t.title FROM conversation_state_full t WHERE t.conversation_soul_id = b.conversation_soul_id
        ORDER BY t.version LIMIT 1) AS title
     FROM conversation_state b LEFT JOIN query_soul q ON q.conversation_state_id = b.id
     LEFT JOIN query_state r ON r.query_soul_id = q.id LEFT JOIN iteration i ON i.query_state_id = r.id
     GROUP BY 1 ORDER BY iterations + versions DESC LIMIT ?`,
  ).all(LARGEST);
  const bytesOf = db.prepare(BYTES);
  return largest.map(({ id, title, queries, iterations, versions }) => ({
    conversationId: String(id),
    title: String(title ?? ""),
    queries: Number(queries),
    iterations: Number(iterations),
    versions: Number(versions),
    bytes: Number(bytesOf.get(String(id))?.bytes ?? 0),
  }));
}

/** Everything in `content` that the rows of a conversation refer to, each once, with pieces and bases. */
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
