import pg from "pg";

export interface StatementCounts {
  readonly statements: number;
  /** The number of waits for the server: a statement that is sent while others are unanswered adds none. */
  readonly roundTrips: number;
}

interface Counting extends Disposable {
  /** Returns the statements since the last call. */
  take(): StatementCounts;
}

/** The used parts of the driver. */
interface Client {
  query(...args: readonly unknown[]): Promise<unknown>;
}

/** Counts the statements that all connections of this process to PostgreSQL send. */
export function countStatements(): Counting {
  // Its types belong to another version of Node.
  const client = pg.Client.prototype as Client;
  const { query } = client;
  const unanswered = new WeakMap<Client, number>();
  const counts = { statements: 0, roundTrips: 0 };
  client.query = async function (this: Client, ...args) {
    const before = unanswered.get(this) ?? 0;
    counts.statements++;
    if (before === 0) counts.roundTrips++;
    unanswered.set(this, before + 1);
    try {
      return await query.apply(this, [...args]);
    } finally {
      unanswered.set(this, (unanswered.get(this) ?? 1) - 1);
    }
  };
  return {
    take: () => {
      const taken = { ...counts };
      Object.assign(counts, { statements: 0, roundTrips: 0 });
      return taken;
    },
    [Symbol.dispose]: () => {
      client.query = query;
    },
  };
}
