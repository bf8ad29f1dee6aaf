import type { Database } from "../database/database.ts";
import type { NodeCommand } from "../store/node_store.ts";

/** Messages to the nodes that run queries. A node that takes a query over finds those that were not carried out. */
export class Commands {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async send({ id, queryId, kind, body }: NodeCommand): Promise<boolean> {
    const rows = await this.#db.run(
      `WITH held AS (SELECT query_id FROM job WHERE query_id = $2 FOR KEY SHARE), sent AS (
         INSERT INTO command (id, query_id, kind, body) SELECT $1, query_id, $3, $4 FROM held
         ON CONFLICT DO NOTHING RETURNING query_id
       ) SELECT pg_notify('vis_command', query_id) FROM sent`,
      [id, queryId, kind, body],
    );
    return rows.length > 0;
  }

  async pending(queryIds: readonly string[]): Promise<readonly NodeCommand[]> {
    const rows = await this.#db.run(
      "SELECT id, query_id, kind, body FROM command WHERE query_id = ANY ($1) AND done IS NULL ORDER BY number",
      [[...queryIds]],
    );
    // The statement guarantees the shape of its rows.
    return rows as unknown as readonly NodeCommand[];
  }

  async trim(olderMs: number): Promise<void> {
    await this.#db.run(
      `DELETE FROM command c WHERE created_at < clock_timestamp() - $1 * interval '1 millisecond'
       AND NOT EXISTS (SELECT FROM job j WHERE j.query_id = c.query_id)`,
      [olderMs],
    );
  }

  async settle({ id, queryId }: Pick<NodeCommand, "id" | "queryId">, done: boolean): Promise<void> {
    await this.#db.run(
      `WITH settled AS (UPDATE command SET done = ($2::int = 1) WHERE id = $1 AND done IS NULL RETURNING id)
       SELECT pg_notify('vis_command', $3) FROM settled`,
      [id, done ? 1 : 0, queryId],
    );
  }

  async outcome(id: string): Promise<boolean | null> {
    const [row] = await this.#db.run(
      "SELECT done, EXISTS (SELECT FROM job j WHERE j.query_id = c.query_id) AS runs FROM command c WHERE id = $1",
      [id],
    );
    if (row === undefined || (row["done"] === null && !row["runs"])) return false;
    return row["done"] === null ? null : Boolean(row["done"]);
  }
}
