import { databaseStore } from "../../../src/persistence/database_store.ts";
import type { ResultRow } from "../../../src/persistence/database.ts";
import { type JobTimes, openNodeStore } from "../../../src/persistence/node_store.ts";
import { openPostgres } from "../../../src/persistence/postgres/open_postgres.ts";
import type { PostgresDatabase } from "../../../src/persistence/postgres/postgres_database.ts";
import type { NodeStore, Store } from "../../../src/persistence/store.ts";

export interface TestNode extends AsyncDisposable {
  readonly name: string;
  readonly db: PostgresDatabase;
  readonly store: Store;
  readonly nodes: NodeStore;
  readonly sql: (text: string, ...parameters: readonly unknown[]) => Promise<readonly ResultRow[]>;
}

/** Makes a node that has reported once, and may take requests of lost nodes. */
export async function testNode(url: string, name: string, times: Partial<JobTimes> = {}): Promise<TestNode> {
  const { db, address, location } = await openPostgres(url, { now: Date.now, startMs: 10_000, tenant: null });
  const facts = { now: Date.now, isAlive: () => null };
  const store = databaseStore(db, {
    ...{ ...facts, location, busyMs: 1_000, toStoreError: (error) => error },
    ...{ check: () => Promise.resolve([]), fileFault: () => "" },
  });
  const nodes = openNodeStore(db, {
    ...facts,
    node: name,
    address,
    times: { graceMs: 0, leaseMs: 3_600_000, ...times },
  });
  await nodes.beat();
  await db.run("UPDATE node SET since = '-infinity' WHERE id = $1", [name]);
  return {
    ...{ name, db, store, nodes },
    sql: async (text, ...parameters) => await db.run(text, parameters),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** Makes a node count as lost, without waiting for its lease to run out. */
export async function lapse({ sql }: TestNode, name: string): Promise<void> {
  await sql("UPDATE node SET heartbeat_at = '-infinity' WHERE id = $1", name);
}

/** A revived node that reports again may take requests of others at once. */
export async function revive({ nodes, sql, name }: TestNode): Promise<ReadonlyMap<string, number>> {
  const held = await nodes.beat();
  await sql("UPDATE node SET since = '-infinity' WHERE id = $1", name);
  return held;
}
