import type { Database } from "../database/database.ts";
import type { NodeStore, SharedEvent } from "../store/node_store.ts";

/** The newest events of queries on all nodes. Rows of the store tell what is no longer kept. */
export class EventTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async publish(events: readonly SharedEvent[]): Promise<void> {
    await this.#db.run(
      `WITH put AS (
         INSERT INTO event (query_id, number, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
         ON CONFLICT DO NOTHING RETURNING query_id
       ) SELECT pg_notify('vis_event', query_id) FROM (SELECT DISTINCT query_id FROM put) one`,
      [events.map(({ queryId }) => queryId), events.map(({ number }) => number), events.map(({ body }) => body)],
    );
  }

  async after(queryId: string, number: number): Promise<readonly SharedEvent[]> {
    const rows = await this.#db.run(
      "SELECT query_id, number, body FROM event WHERE query_id = $1 AND number > $2 ORDER BY number LIMIT 500",
      [queryId, number],
    );
    // The statement guarantees the shape of its rows.
    return rows as unknown as readonly SharedEvent[];
  }

  async range(queryId: string): ReturnType<NodeStore["eventRange"]> {
    const [row] = await this.#db.run(
      "SELECT min(number) AS oldest, max(number) AS newest FROM event WHERE query_id = $1",
      [queryId],
    );
    const { oldest = null, newest = null } = row ?? {};
    return oldest === null || newest === null ? null : { oldest: Number(oldest), newest: Number(newest) };
  }

  async trim(olderMs: number): Promise<void> {
    await this.#db.run("DELETE FROM event WHERE created_at < clock_timestamp() - $1 * interval '1 millisecond'", [
      olderMs,
    ]);
  }
}
