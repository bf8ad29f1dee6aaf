import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { QueryResult } from "kysely";
import { Semaphore } from "../../domain/kit/semaphore.ts";
import { columnName } from "../schema/column_name.ts";
import type { Address } from "./address.ts";
import { clientConfig } from "./client_config.ts";
import { LastWrite } from "./last_write.ts";
import { isLost } from "./postgres_error.ts";

/** Connections of this process. A transaction has one; nothing waits for a second one while it has its own. */
const MOST = 10;
const IDLE_MS = 60_000;
const PAUSE_MS = 50, LONGEST_PAUSE_MS = 2000;
const BOOL = 16, BYTEA = 17, NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);
const NOTHING: Found = { rows: [], fields: [], rowCount: 0 };

/** What is used of `pg`, whose types would bring those of another version of Node. */
interface Found {
  readonly rows: readonly unknown[][];
  readonly fields: readonly { readonly name: string }[];
  readonly rowCount: number | null;
}

interface Client {
  query(query: Readonly<Record<string, unknown>>): Promise<Found | readonly Found[]>;
  release(broken: boolean): void;
  on(event: "error", listener: (error: unknown) => void): void;
}

interface Pool {
  connect(): Promise<Client>;
  end(): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): void;
  on(event: "connect", listener: (client: Client) => void): void;
}

/** A connection that one transaction has to itself. */
export interface Connection {
  query(sql: string, options?: QueryOptions): Promise<QueryResult<Record<string, unknown>>>;
  /** Chooses the tenant whose rows the next statements outside of a transaction see. They need not wait for it, but
   * what they return counts only once it resolves. */
  see(tenant: string): Promise<void>;
  /** Gives it back; with `broken`, it is closed. */
  release(broken?: boolean): void;
}

export interface QueryOptions {
  readonly parameters?: readonly unknown[];
  /** Whether its text is prepared once on a connection. */
  readonly prepared?: boolean;
}

/** The connections to a server. While the server is lost, whoever wants one waits for it. */
export class Server {
  readonly lastWrite = new LastWrite();
  readonly #pool: Pool;
  readonly #patienceMs: number;
  readonly #names = new Map<string, string>();
  readonly #seen = new WeakMap<Client, string>();
  readonly #writes = new Semaphore();
  #fault = "";
  #closed = false;
  #givenUp = false;

  constructor(address: Address, { patienceMs }: { readonly patienceMs: number }) {
    this.#patienceMs = patienceMs;
    this.#pool = new pg.Pool({
      ...clientConfig(address),
      ...{ max: MOST, idleTimeoutMillis: IDLE_MS },
      // Statements are sent without waiting for the one before.
      pipeline: true,
      types: { getTypeParser: (oid: number) => parserOf(oid) },
    });
    this.#pool.on("error", (error) => this.#lost(error));
    // A connection that ends before its first statement is sent too: an error without a listener would end the process.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** What is wrong; "" while the server answers. */
  get fault(): string {
    return this.#fault;
  }

  /** Takes a connection. Waits for a lost server with growing pauses, as long as patience lasts. */
  async take(patienceMs: number = this.#patienceMs): Promise<Connection> {
    const start = performance.now();
    for (let pause = PAUSE_MS;; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const client = await this.#pool.connect();
        this.#fault = "";
        return {
          query: (sql, options) => this.#query(client, sql, options),
          see: (tenant) => this.#see(client, tenant),
          release: (broken = false) => client.release(broken),
        };
      } catch (error) {
        if (!isLost(error)) throw error;
        this.#fault = "the server does not answer";
        if (this.#closed || this.#givenUp || performance.now() - start + pause > patienceMs) throw error;
      }
      await sleep(pause);
    }
  }

  /** Runs writes of this process one after the other. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#writes.run(work);
  }

  /** From now on nobody waits for a lost server. */
  giveUp(): void {
    this.#givenUp = true;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end();
  }

  /** Finds out when a server that closed an idle connection is back. */
  #lost(error: unknown): void {
    if (this.#fault !== "" || !isLost(error) || this.#closed) return;
    this.#fault = "the server closed the connection";
    void this.take().then((connection) => connection.release(), () => {});
  }

  async #see(client: Client, tenant: string): Promise<void> {
    if (this.#seen.get(client) === tenant) return;
    this.#seen.set(client, tenant);
    try {
      await this.#query(client, "SELECT set_config('vis.tenant', $1, false)", { parameters: [tenant], prepared: true });
    } catch (error) {
      this.#seen.delete(client);
      throw error;
    }
  }

  async #query(
    client: Client,
    text: string,
    { parameters = [], prepared = false }: QueryOptions = {},
  ): Promise<QueryResult<Record<string, unknown>>> {
    const found = await client.query({
      text,
      values: parameters.map(bindable),
      rowMode: "array",
      ...(prepared ? { name: this.#nameOf(text) } : {}),
    });
    // A text without parameters may have several statements.
    const [{ rows, fields, rowCount } = NOTHING] = [found].flat().slice(-1);
    const columns = fields.map(({ name }) => columnName(name));
    return {
      numAffectedRows: BigInt(rowCount ?? 0),
      rows: rows.map((cells) => {
        const row: Record<string, unknown> = {};
        columns.forEach((name, at) => {
          if (name !== null) row[name] = name === "result" ? referenceOr(cells[at]) : cells[at];
        });
        return row;
      }),
    };
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `v${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

const REFERENCE_START = 0xff, REFERENCE_LENGTH = 72;

/** The bytes of a reference to `content` in a column of bytes. No value begins like this: the codec's begin with its
 * version, and texts are UTF-8. */
export function referenceBytes(reference: string): Uint8Array {
  return new Uint8Array([REFERENCE_START, ...new TextEncoder().encode(reference)]);
}

/** The reference in such a cell, or the cell as it is. */
function referenceOr(cell: unknown): unknown {
  const isReference = cell instanceof Uint8Array && cell[0] === REFERENCE_START && cell.length === REFERENCE_LENGTH;
  return isReference ? new TextDecoder().decode(cell.subarray(1)) : cell;
}

/** Booleans are numbers, as SQLite has them; JSON stays text. */
function parserOf(oid: number): (text: string) => unknown {
  if (NUMBERS.has(oid)) return Number;
  if (oid === BOOL) return (text) => text === "t" ? 1 : 0;
  if (oid === BYTEA) return (text) => Uint8Array.fromHex(text.slice(2));
  return (text) => text;
}

/** PostgreSQL has no NUL in a text. */
function bindable(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
  if (value === null || typeof value === "number" || typeof value === "bigint" || Array.isArray(value)) return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`Cannot bind a value to a query: ${value instanceof Date ? "Date" : typeof value}`);
}
