import pg from "pg";

export interface StatementCounts {
  readonly statements: number;
  /** A statement that the client sends while another waits adds no round trip. */
  readonly roundTrips: number;
}

interface Counting extends Disposable {
  take(): StatementCounts;
}

interface Client {
  query(...args: readonly unknown[]): Promise<unknown>;
}

export function countStatements(): Counting {
  // The types of the client belong to another version of Node.
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
