import { DatabaseSync } from "node:sqlite";
import type { PruneReport } from "../../domain/records/database_maintenance.ts";
import { openAlone } from "./alone.ts";
import { markContent } from "../content/marks.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import { Transactions } from "../sqlite/transactions.ts";

/** A text is stored before the row that refers to it: another process may be about to use newer content. */
const SETTLED_MS = 24 * 3_600_000;
const TRIES = 3;

interface Options {
  readonly now: number;
  readonly busyMs: number;
}

type Collected = Pick<PruneReport, "contents" | "contentBytes" | "everything">;

/** Removes content that nothing refers to: all of it if no other process has the database open, else what is at least a
 * day old. */
export async function collectContent(path: string, options: Options): Promise<Collected> {
  const alone = openAlone(path);
  if (!alone) return await collectBeside(path, options);
  try {
    alone.exec("PRAGMA secure_delete = ON");
    return await new Transactions(new SqliteConnection(alone), options).write(() => {
      return { ...removeUnused(alone), everything: true };
    });
  } finally {
    alone.close();
  }
}

/** Removes all content that nothing refers to, in a transaction on a connection without foreign keys that no other
 * process writes beside. */
export function removeUnused(db: DatabaseSync): Omit<Collected, "everything"> {
  // Whoever has claimed something has ended.
  db.exec("DELETE FROM claim");
  markContent(db);
  return sweep(db, Number.MAX_SAFE_INTEGER);
}

/** Marks without a lock and starts over if another process wrote in the meantime; the third attempt holds the lock. */
async function collectBeside(path: string, { now, busyMs }: Options): Promise<Collected> {
  const db = new DatabaseSync(path, { timeout: 50, enableForeignKeyConstraints: false });
  const transactions = new Transactions(new SqliteConnection(db), { busyMs });
  try {
    db.exec("PRAGMA secure_delete = ON");
    for (let time = 1;; time++) {
      db.exec("BEGIN");
      const seen = time < TRIES ? marked(db) : null;
      db.exec("COMMIT");
      const done = await transactions.write(() => {
        if (seen === null) markContent(db);
        else if (seen !== dataVersion(db)) return null;
        return sweep(db, settledRow(db, now));
      });
      if (done) return { ...done, everything: false };
    }
  } finally {
    db.close();
  }
}

function marked(db: DatabaseSync): unknown {
  const seen = dataVersion(db);
  markContent(db);
  return seen;
}

/** Changes once another connection has written. */
function dataVersion(db: DatabaseSync): unknown {
  return db.prepare("PRAGMA data_version").get()?.data_version;
}

/** Rows of `content` are numbered in order of creation, so rows up to one that an old iteration refers to are old. */
function settledRow(db: DatabaseSync, now: number): number {
  const row = db.prepare(
    `SELECT max(c.rowid) AS row FROM (
       SELECT llm_user_prompt AS cell FROM iteration WHERE created_at < :old
       UNION ALL SELECT metadata FROM iteration WHERE created_at < :old
       UNION ALL SELECT result FROM expression_state WHERE created_at < :old AND typeof(result) = 'text'
     ) JOIN content c ON c.hash = substr(cell, 8)`,
  ).get({ old: now - SETTLED_MS });
  return Number(row?.row ?? 0);
}

/** Foreign keys are off: each deleted row would have to be looked up among all bases, and the marks already respect
 * bases. */
function sweep(db: DatabaseSync, upTo: number): Omit<Collected, "everything"> {
  const where = "WHERE rowid <= ? AND hash NOT IN (SELECT hash FROM mark)";
  const row = db.prepare(`SELECT count(*) AS n, sum(length(bytes)) AS bytes FROM content ${where}`).get(upTo);
  db.prepare(`DELETE FROM content ${where}`).run(upTo);
  return { contents: Number(row?.n), contentBytes: Number(row?.bytes ?? 0) };
}
