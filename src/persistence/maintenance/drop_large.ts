import { DatabaseSync } from "node:sqlite";
import { jsonOrUndefined } from "../../domain/kit/json.ts";
import type { Database } from "../database/database.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import { Transactions } from "../sqlite/transactions.ts";

const PREFIX = "sha256:";
const PIECES = "SELECT bytes FROM content WHERE hash = ? AND encoding = 'chunks'";

interface Options {
  readonly large: string;
  readonly location: string;
  readonly busyMs: number;
}

/** `LargeTextStore.dropLarge`. On a connection without foreign keys: for each deleted row, SQLite would look through all
 * content for a difference to it, and pieces have none. */
export async function dropLarge(db: Database, { large, location, busyMs }: Options): Promise<void> {
  const hash = large.slice(PREFIX.length);
  if (location === ":memory:" || db.kind === "postgres") {
    const row = await db.selectFrom("content").select("bytes").where("hash", "=", hash)
      .where("encoding", "=", "chunks").executeTakeFirst();
    await db.deleteFrom("content").where("hash", "in", [hash, ...listOf(row?.bytes)]).execute();
    return;
  }
  using beside = new DatabaseSync(location, { timeout: 50, enableForeignKeyConstraints: false });
  await new Transactions(new SqliteConnection(beside), { busyMs }).write(() => {
    const remove = beside.prepare("DELETE FROM content WHERE hash = ?");
    for (const one of [hash, ...listOf(beside.prepare(PIECES).get(hash)?.bytes)]) remove.run(one);
  });
}

function listOf(bytes: unknown): readonly string[] {
  const list = bytes instanceof Uint8Array ? jsonOrUndefined(new TextDecoder().decode(bytes)) : [];
  return Array.isArray(list) ? list.map(String) : [];
}
