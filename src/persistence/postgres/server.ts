import type { QueryResult } from "kysely";
import pg from "pg";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileFault, UsageError } from "../../domain/errors.ts";
import { percentDecoded } from "../../domain/kit/addresses.ts";
import { ownPatience, Semaphore, settledWithin } from "../../domain/kit/concurrency.ts";
import { newId } from "../../domain/kit/ids.ts";
import { clip } from "../../domain/kit/text.ts";
import { columnName } from "../tables.ts";
import { ConnectionLost, isLost, lostOr, mayReturn, sqlState, wordsOf } from "./postgres_error.ts";

/** A transaction holds one of these connections, and waits for no other connection. */
const MOST = 10;
const IDLE_MS = 60_000;
const PAUSE_MS = 50, LONGEST_PAUSE_MS = 2000;
const SHORTEST_MS = 2_000, LONGEST_MS = 11_000;
const SILENT_MS = 5_000;
/** Parameters take time to arrive, so the time limit grows with their size. */
const SLOWEST_BYTES_PER_MS = 256;
const LAST_MS = 1_000;
const BOOL = 16, BYTEA = 17, NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);
const NOTHING: Found = { rows: [], fields: [], rowCount: 0 };
/** A backend that waits for its client to read sends a result that does not arrive. */
const IS_WORKING = `SELECT pg_backend_pid(), EXISTS (SELECT FROM pg_stat_activity
WHERE pid = $1 AND state = 'active' AND wait_event IS DISTINCT FROM 'ClientWrite')`;

/** The types of `pg` need types of another version of Node. */
interface Found {
  readonly rows: readonly unknown[][];
  readonly fields: readonly { readonly name: string }[];
  readonly rowCount: number | null;
}

interface Client {
  readonly connection: { readonly stream: { readonly bytesRead?: number; destroy(): void } };
  readonly processID: number;
  connect(): Promise<void>;
  query(query: Readonly<Record<string, unknown>>): Promise<Found | readonly Found[]>;
  on(event: "error", listener: (error: unknown) => void): void;
}

interface PooledClient extends Client {
  release(broken: boolean): void;
}

interface Pool {
  connect(): Promise<PooledClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: unknown) => void): void;
  on(event: "connect" | "remove", listener: (client: PooledClient) => void): void;
}

interface State {
  seen: string;
  owed: number;
  bytes: number;
  heardAt: number;
  read: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  isLooking: boolean;
  /** A connection is suspect if Vis made it before another connection fell silent. */
  isSuspect: boolean;
}

export interface Connection {
  query(sql: string, options?: QueryOptions): Promise<QueryResult<Record<string, unknown>>>;
  /** The next statements need not wait for this promise, but their results count only after it resolves. */
  see(tenant: string): Promise<void>;
  release(broken?: boolean): void;
}

export interface QueryOptions {
  readonly parameters?: readonly unknown[];
  readonly prepared?: boolean;
}

/** 55P03 is the code of PostgreSQL for an unavailable lock. */
class WriteQueued extends Error {
  override readonly name = "WriteQueued";
  readonly code = "55P03";
}

interface ServerOptions {
  readonly patienceMs: number;
  readonly silentMs?: number;
}

/** A silent connection is lost, unless a second connection shows that the server works on the statement, or cannot
 * check this. */
export class Server {
  readonly lastWrite = new LastWrite();
  readonly #address: Address;
  readonly #pool: Pool;
  readonly #patienceMs: number;
  readonly #silentMs: number;
  readonly #names = new Map<string, string>();
  readonly #states = new Map<Client, State>();
  readonly #writes = new Semaphore(1, () => this.#fault === "" ? new WriteQueued() : new ConnectionLost(this.#fault));
  readonly #givenUp = new AbortController();
  #wasReached = false;
  #fault = "";
  #closed = false;

  constructor(address: Address, { patienceMs, silentMs = SILENT_MS }: ServerOptions) {
    this.#address = address;
    this.#patienceMs = patienceMs;
    this.#silentMs = silentMs;
    this.#pool = new pg.Pool({
      ...clientConfig(address),
      ...{ max: MOST, idleTimeoutMillis: IDLE_MS },
      // The client then sends a statement without waiting for the previous result.
      pipeline: true,
      types: { getTypeParser: (oid: number) => parserOf(oid) },
    });
    this.#pool.on("error", (error) => this.#lost(lostOr(error)));
    this.#pool.on("connect", (client) => {
      const state = { seen: "", owed: 0, bytes: 0, heardAt: 0, read: 0, timer: undefined, isLooking: false };
      this.#states.set(client, { ...state, isSuspect: false });
      // Without a listener, the error of a connection that ends before its first statement would end the process.
      client.on("error", () => {});
    });
    this.#pool.on("remove", (client) => this.#states.delete(client));
  }

  get fault(): string {
    return this.#fault;
  }

  async take(patienceMs: number = ownPatience() ?? this.#patienceMs): Promise<Connection> {
    const start = performance.now();
    for (let pause = PAUSE_MS;; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        if (this.#givenUp.signal.aborted && this.#fault !== "") throw new ConnectionLost(this.#fault);
        const client = await this.#connect(patienceMs);
        this.#fault = "";
        this.#wasReached = true;
        return {
          query: (sql, options) => this.#query(client, sql, options),
          see: (tenant) => this.#see(client, tenant),
          release: (broken = false) => this.#release(client, broken),
        };
      } catch (error) {
        if (!mayReturn(error) && !this.#wasReached) throw error;
        await this.wait(error, { start, pause, patienceMs });
      }
    }
  }

  async wait(
    error: unknown,
    { start, pause = LONGEST_PAUSE_MS, patienceMs = ownPatience() ?? this.#patienceMs }: {
      readonly start: number;
      readonly pause?: number;
      readonly patienceMs?: number;
    },
  ): Promise<void> {
    this.#fault = wordsOf(error);
    const { signal } = this.#givenUp;
    if (this.#closed || signal.aborted || performance.now() - start + pause > patienceMs) throw error;
    await sleep(pause, undefined, { signal }).catch(() => {});
  }

  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const patienceMs = ownPatience();
    return this.#writes.run(
      work,
      patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs + this.#silentMs),
    );
  }

  /** Statements then do not wait for a lost server, and wait at most `LAST_MS` for the next byte of a result. */
  giveUp(): void {
    this.#givenUp.abort();
    for (const [client, state] of this.#states) if (state.owed > 0) this.#watch(client, state);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.giveUp();
    await this.#inTime(this.#pool.end()).catch(() => {});
    for (const client of this.#states.keys()) client.connection.stream.destroy();
  }

  #lost(error: unknown): void {
    if (this.#fault !== "" || !isLost(error) || this.#closed) return;
    this.#fault = "PostgreSQL closed the connection";
    void this.take().then((connection) => connection.release(), () => {});
  }

  async #connect(patienceMs: number): Promise<PooledClient> {
    const limit = Math.max(SHORTEST_MS, Math.min(patienceMs, LONGEST_MS));
    for (;;) {
      const connecting = this.#pool.connect();
      const client = await this.#inTime(connecting, limit).catch((error: unknown) => {
        void connecting.then((late) => this.#release(late, false), () => {});
        throw lostOr(error);
      });
      if (!this.#states.get(client)?.isSuspect) return client;
      this.#release(client, true);
    }
  }

  #release(client: PooledClient, broken: boolean): void {
    const isBroken = broken || this.#states.get(client)?.isSuspect === true;
    client.release(isBroken);
    // Otherwise, the connection would stay open until the server closes it.
    if (isBroken) client.connection.stream.destroy();
  }

  async #inTime<T>(work: Promise<T>, ms = Infinity): Promise<T> {
    const { signal } = this.#givenUp;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timers: ReturnType<typeof setTimeout>[] = [];
    const within = (limit: number): void => {
      timers.push(
        setTimeout(
          () => reject(new ConnectionLost(`Cannot reach PostgreSQL: no connection was ready within ${limit} ms`)),
          limit,
        ),
      );
    };
    const begin = (): void => within(LAST_MS);
    signal.addEventListener("abort", begin, { once: true });
    if (signal.aborted) begin();
    if (ms < Infinity) within(ms);
    try {
      return await Promise.race([work, late]);
    } finally {
      signal.removeEventListener("abort", begin);
      for (const timer of timers) clearTimeout(timer);
    }
  }

  async #see(client: Client, tenant: string): Promise<void> {
    const state = this.#states.get(client);
    if (state?.seen === tenant) return;
    if (state) state.seen = tenant;
    try {
      await this.#query(client, "SELECT set_config('vis.tenant', $1, false)", { parameters: [tenant], prepared: true });
    } catch (error) {
      if (state) state.seen = "";
      throw error;
    }
  }

  async #query(
    client: Client,
    text: string,
    { parameters = [], prepared = false }: QueryOptions = {},
  ): Promise<QueryResult<Record<string, unknown>>> {
    const values = parameters.map(bindable);
    const found = await this.#answer(client, {
      ...{ text, values, rowMode: "array" },
      ...(prepared ? { name: this.#nameOf(text) } : {}),
    }, lengthOf(values));
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

  async #answer(
    client: Client,
    query: Readonly<Record<string, unknown>>,
    bytes: number,
  ): Promise<Found | readonly Found[]> {
    const state = this.#states.get(client);
    if (!state) throw new ConnectionLost("Cannot send a statement: the connection to PostgreSQL has ended");
    state.bytes += bytes;
    if (state.owed++ === 0) {
      state.heardAt = performance.now();
      state.read = client.connection.stream.bytesRead ?? 0;
      this.#watch(client, state);
    }
    try {
      return await client.query(query);
    } catch (error) {
      throw lostOr(error);
    } finally {
      state.bytes -= bytes;
      state.heardAt = performance.now();
      if (--state.owed === 0) clearTimeout(state.timer);
    }
  }

  #watch(client: Client, state: State): void {
    if (state.isLooking) return;
    clearTimeout(state.timer);
    state.timer = setTimeout(() => void this.#look(client, state), this.#dueIn(state));
  }

  #dueIn({ heardAt, bytes }: State): number {
    const limit = this.#givenUp.signal.aborted ? LAST_MS : this.#silentMs + bytes / SLOWEST_BYTES_PER_MS;
    return heardAt + limit - performance.now();
  }

  async #look(client: Client, state: State): Promise<void> {
    const { stream } = client.connection;
    const isHeard = (): boolean => {
      const { bytesRead = 0 } = stream;
      if (bytesRead !== state.read) state.heardAt = performance.now();
      state.read = bytesRead;
      return this.#dueIn(state) > 0;
    };
    state.isLooking = true;
    const isWorking = isHeard() || (!this.#givenUp.signal.aborted && await this.#isWorking(client));
    state.isLooking = false;
    if (state.owed === 0) return;
    if (isWorking) state.heardAt = Math.max(state.heardAt, performance.now() - this.#silentMs / 2);
    // A byte may have arrived during the check.
    if (isWorking || isHeard()) return this.#watch(client, state);
    for (const [other, found] of this.#states) {
      found.isSuspect = true;
      if (found.owed === 0 || other === client) other.connection.stream.destroy();
    }
  }

  async #isWorking({ processID }: Client): Promise<boolean> {
    const config = { ...clientConfig(this.#address), connectionTimeoutMillis: this.#silentMs / 2 };
    const beside: Client = new pg.Client(config);
    beside.on("error", () => {});
    const asked = beside.connect().then(() =>
      beside.query({ text: IS_WORKING, values: [processID], rowMode: "array" })
    );
    try {
      if (!await settledWithin(asked, this.#silentMs / 2)) {
        throw new ConnectionLost(`Cannot reach PostgreSQL: it did not answer within ${this.#silentMs / 2} ms`);
      }
      const [{ rows: [[own, isWorking] = []] } = NOTHING] = [await asked].flat();
      // Behind a pooler, `processID` names no backend, so silence proves nothing.
      return isWorking === true || own !== beside.processID;
    } catch (error) {
      // A server without room for another connection still responds.
      if (sqlState(error).startsWith("53")) return true;
      this.#fault = wordsOf(lostOr(error));
      return false;
    } finally {
      beside.connection.stream.destroy();
    }
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `v${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

const REFERENCE_START = 0xff, REFERENCE_LENGTH = 72;

/** A value cannot begin with this byte: codec values begin with their version, and UTF-8 has no such byte. */
export function referenceBytes(reference: string): Uint8Array {
  return new Uint8Array([REFERENCE_START, ...new TextEncoder().encode(reference)]);
}

function referenceOr(cell: unknown): unknown {
  const isReference = cell instanceof Uint8Array && cell[0] === REFERENCE_START && cell.length === REFERENCE_LENGTH;
  return isReference ? new TextDecoder().decode(cell.subarray(1)) : cell;
}

function parserOf(oid: number): (text: string) => unknown {
  if (NUMBERS.has(oid)) return Number;
  if (oid === BOOL) return (text) => text === "t" ? 1 : 0;
  if (oid === BYTEA) return (text) => Uint8Array.fromHex(text.slice(2));
  return (text) => text;
}

function lengthOf(values: readonly unknown[]): number {
  let length = 0;
  for (const value of values) if (typeof value === "string" || value instanceof Uint8Array) length += value.length;
  return length;
}

function bindable(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
  if (value === null || typeof value === "number" || typeof value === "bigint" || Array.isArray(value)) return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `Cannot bind a value to an SQL statement: its type is ${
      value instanceof Date ? "Date" : typeof value
    }; pass null, ` +
      "a number, a bigint, a string, a Uint8Array or a list",
  );
}

export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export interface SeenRun {
  readonly id: string;
  readonly version: string;
  readonly holder: string | null;
}

interface Mark {
  readonly mark: string;
  readonly tenant: string;
  readonly run: SeenRun | null;
}

const RUN = `(SELECT true FROM query_state s WHERE s.id = $5 AND s.xmin::text = $6
  AND (SELECT j.node_id || ' ' || j.epoch FROM job j WHERE j.query_id = s.id FOR SHARE) IS NOT DISTINCT FROM $7
  FOR NO KEY UPDATE)`;

/** The column is NOT NULL, so a false condition aborts the transaction. */
const put = (condition: string): string =>
  `INSERT INTO last_write AS w (writer, mark) VALUES ($1, CASE WHEN ${condition} THEN $2 END)
ON CONFLICT (writer) DO UPDATE SET written_at = excluded.written_at,
  mark = CASE WHEN w.mark = $3 THEN excluded.mark END`;
const PUT = put("current_setting('vis.tenant') = $4");
const PUT_OF_RUN = put(`current_setting('vis.tenant') = $4 AND ${RUN}`);
const SETTLE = `INSERT INTO last_write AS w (writer, mark) VALUES ($1, $2)
ON CONFLICT (writer) DO UPDATE SET mark = CASE WHEN w.mark = $3 THEN excluded.mark ELSE w.mark END RETURNING mark`;
/** A killed process leaves its mark, which another process deletes at least a day later. */
const FORGET = `DELETE FROM last_write WHERE writer = $1 OR written_at < clock_timestamp() - interval '1 day'`;

class LastWrite {
  readonly #writer = newId();
  #known = "";

  get isKnown(): boolean {
    return this.#known !== "";
  }

  put({ mark, tenant, run }: Mark): Statement {
    const parameters = [this.#writer, mark, this.#known, tenant];
    if (run === null) return { text: PUT, parameters };
    return { text: PUT_OF_RUN, parameters: [...parameters, run.id, run.version, run.holder] };
  }

  stored(mark: string): void {
    this.#known = mark;
  }

  /** An earlier transaction fails if it stores its mark after this change. */
  settle(): Statement {
    return { text: SETTLE, parameters: [this.#writer, newId(), this.#known] };
  }

  forget(): Statement {
    return { text: FORGET, parameters: [this.#writer] };
  }
}

const CONNECT_MS = 10_000;
/** With keep-alive, the system notices a lost connection that is idle, such as the connection of a listener. */
const KEEP_ALIVE_MS = 10_000;

/** The configuration has no session settings, because poolers refuse settings that they do not know. */
export function clientConfig(
  { host, port, user, database, password, tls }: Address,
): Readonly<Record<string, unknown>> {
  return {
    ...{ host, port, user, database },
    password: password ?? "",
    ssl: tls && {
      rejectUnauthorized: tls.verified,
      ...(tls.authority === null ? {} : { ca: authorityIn(tls.authority) }),
    },
    connectionTimeoutMillis: CONNECT_MS,
    application_name: `vis ${Deno.pid}`,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS },
  };
}

function authorityIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(
      `Cannot read ${path}, the sslrootcert of the database URL: ${
        fileFault(error)
      }; correct the path or its permissions`,
      { cause: error },
    );
  }
}

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | undefined;
  readonly tls: false | { readonly verified: boolean; readonly authority: string | null };
  /** People see this URL, so the URL has no password. */
  readonly shown: string;
}

const MODES = ["disable", "require", "verify-full"];

/** The default is verified TLS, or no TLS for a socket or a loopback address. */
export function readAddress(text: string, password?: string): Address {
  // `URL` needs a host, but the URL of a socket names its host in the query string.
  const url = URL.parse(text.replace(/^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?=\/|\?|$)/, "$1localhost"));
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new UsageError("Cannot use the database URL: it does not have the form postgres://user@host:5432/name");
  }
  const host = url.searchParams.get("host") ?? url.hostname.replace(/^\[|\]$/g, "");
  const isHere = host.startsWith("/") || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  const mode = url.searchParams.get("sslmode") ?? (isHere ? "disable" : "verify-full");
  if (!MODES.includes(mode)) {
    throw new UsageError(
      `Cannot use the database URL: its sslmode is ${clip(mode, 40)}; choose one of ${MODES.join(", ")}`,
    );
  }
  const database = percentDecoded(url.pathname.slice(1));
  if (database === "") {
    throw new UsageError("Cannot use the database URL: it names no database; write postgres://user@host:5432/name");
  }
  const user = percentDecoded(url.username) || "vis";
  const portText = url.searchParams.get("port") ?? (url.port || "5432"), port = Number(portText);
  if (!(Number.isInteger(port) && port >= 1 && port <= 65535)) {
    throw new UsageError(
      `Cannot use the database URL: its port is ${clip(portText, 40)}; choose a number from 1 to 65535`,
    );
  }
  const authority = url.searchParams.get("sslrootcert");
  return {
    ...{ host, port, user, database },
    password: password ?? (url.password === "" ? undefined : percentDecoded(url.password)),
    tls: mode === "disable" ? false : { verified: mode === "verify-full", authority },
    shown: `postgres://${user}@${host}${port === 5432 ? "" : `:${port}`}/${database}`,
  };
}
