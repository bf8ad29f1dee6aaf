import {
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  type QueryResult,
  sql,
} from "kysely";
import { Buffer } from "node:buffer";
import { TakenOverError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/ids.ts";
import {
  Database,
  type DatabaseDialect,
  type HeldRun,
  isSeen,
  OwnDriver,
  type ResultRow,
  type RowChange,
} from "../database.ts";
import { dropLargeRows, eraseOnServer } from "../erasure.ts";
import { PUT_ENTRY, searchEntries, WORDS } from "../search.ts";
import { isOfConversation, orderOf, snakeCase, STAYING_TABLES, USER_TABLES, WITHIN } from "../tables.ts";
import { isAborted, isConflict, isLost, isReadOnly, isUnmarked, sqlState } from "./postgres_error.ts";
import {
  type Connection,
  type QueryOptions,
  referenceBytes,
  type SeenRun,
  type Server,
  type Statement,
} from "./server.ts";

type Result = QueryResult<ResultRow>;

const MOST_TRIES = 8;

interface PostgresDatabaseOptions {
  readonly tenant: string | null;
  readonly transaction?: PostgresTransaction | null;
  readonly held?: HeldRuns;
}

export class PostgresDatabase extends Database {
  override readonly dialect = POSTGRES;
  readonly held: HeldRuns;
  readonly #server: Server;
  readonly #tenant: string | null;
  readonly #transaction: PostgresTransaction | null;

  constructor(server: Server, { tenant, transaction = null, held = new HeldRuns() }: PostgresDatabaseOptions) {
    super(postgresDialect(new OwnDriver((text, parameters) => this.#query(text, { parameters }))));
    this.#server = server;
    this.#tenant = tenant;
    this.#transaction = transaction;
    this.held = held;
  }

  override get tenant(): string | null {
    return this.#tenant;
  }

  override of(tenant: string | null): PostgresDatabase {
    return new PostgresDatabase(this.#server, { tenant, held: this.held });
  }

  override async run(text: string, parameters: readonly unknown[]): Promise<readonly ResultRow[]> {
    const { rows } = await this.#query(text, { parameters, prepared: true });
    return rows;
  }

  override async store(text: string, parameters: readonly unknown[]): Promise<void> {
    if (this.#transaction) this.#transaction.store(text, parameters);
    else await this.run(text, parameters);
  }

  override insert(table: string, cells: ResultRow): Promise<void> | void {
    if (this.#transaction) return this.#transaction.insert(snakeCase(table), cells);
    return this.write(async (tx) => await tx.insert(table, cells));
  }

  override update(table: string, change: RowChange): Promise<void> | void {
    if (this.#transaction) return this.#transaction.update(snakeCase(table), change);
    return this.write(async (tx) => await tx.update(table, change));
  }

  /** One mark names the last transaction, so write transactions run one after the other. */
  override write<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#server.inOrder(() => this.#write(work, false));
  }

  override writeRun<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#server.inOrder(() => this.#write(work, true));
  }

  async #write<T>(work: (tx: Database) => Promise<T>, ofRun: boolean): Promise<T> {
    const start = performance.now();
    for (let tries = 1;; tries++) {
      const outcome = await this.#attempt(work, ofRun);
      if ("result" in outcome) return outcome.result;
      const { error } = outcome;
      // If this process has written before, the server probably became read-only in a failover.
      if (isReadOnly(error) && this.#server.lastWrite.isKnown) await this.#server.wait(error, { start });
      else if (!isLost(error) && (!isConflict(error) || tries >= MOST_TRIES)) throw error;
    }
  }

  override async read<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    for (let tries = 1;; tries++) {
      const connection = await this.#take();
      const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
      const transaction = this.#transactionOn(connection, { begin, mark: null, ofRun: false });
      try {
        const result = await work(this.#within(transaction));
        transaction.commit().catch(() => {}); // The result is already complete.
        connection.release();
        return result;
      } catch (error) {
        await undo(connection, { transaction, error });
        if (!isLost(error) && (!isAborted(error) || tries >= MOST_TRIES)) throw error;
      }
    }
  }

  override async lock(name: string): Promise<void> {
    await this.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
  }

  override checkHolder({ id, holder, version = null }: HeldRun): void {
    this.held.check({ id, holder });
    if (version !== null) this.#transaction?.expect({ id, holder, version });
  }

  override ended(queryId: string): void {
    this.held.ended(queryId);
  }

  giveUp(): void {
    this.#server.giveUp();
  }

  override async close(): Promise<void> {
    await this.destroy();
    this.giveUp();
    if (this.#server.fault === "") await this.#forgetMarks().catch(() => {});
    await this.#server.close();
  }

  /** If the connection is lost during the commit, the mark shows whether the server committed the transaction. */
  async #attempt<T>(
    work: (tx: Database) => Promise<T>,
    ofRun: boolean,
  ): Promise<{ readonly result: T } | { readonly error: unknown }> {
    const { lastWrite } = this.#server;
    const connection = await this.#take();
    const [mark, tenant] = [newId(), this.#seen];
    const transaction = this.#transactionOn(connection, {
      ...{ begin: "BEGIN", ofRun },
      mark: (run) => lastWrite.put({ mark, tenant, run }),
    });
    let done: { readonly result: T } | null = null;
    try {
      const result = await work(this.#within(transaction));
      done = { result };
      await transaction.commit();
      if (transaction.isMarked) lastWrite.stored(mark);
      connection.release();
      return done;
    } catch (error) {
      await undo(connection, { transaction, error });
      const isOpen = isUnmarked(error) || (done !== null && isLost(error));
      return isOpen && await this.#newestMark() === mark && done ? done : { error };
    }
  }

  async #newestMark(): Promise<string> {
    const { lastWrite } = this.#server;
    const { text, parameters } = lastWrite.settle();
    const { rows: [found] } = await this.#query(text, { parameters });
    const mark = String(found?.["mark"]);
    lastWrite.stored(mark);
    return mark;
  }

  /** Outside of a transaction, a statement may run twice, so writes must be idempotent. */
  async #query(
    text: string,
    options: { readonly parameters: readonly unknown[]; readonly prepared?: boolean },
  ): Promise<Result> {
    if (this.#transaction) return await this.#transaction.query(text, options);
    for (let tries = 1;; tries++) {
      const connection = await this.#take();
      try {
        const seen = connection.see(this.#seen);
        const [result] = await Promise.all([connection.query(text, options), seen]);
        connection.release();
        return result;
      } catch (error) {
        connection.release(isLost(error) || isReadOnly(error));
        if (!isLost(error) && (!isAborted(error) || tries >= MOST_TRIES)) throw error;
      }
    }
  }

  async #forgetMarks(): Promise<void> {
    const connection = await this.#server.take(0);
    const { text, parameters } = this.#server.lastWrite.forget();
    await connection.query(text, { parameters }).finally(() => connection.release());
  }

  get #seen(): string {
    return this.#tenant ?? "*";
  }

  #transactionOn(
    connection: Connection,
    options: Pick<TransactionOptions, "begin" | "mark" | "ofRun">,
  ): PostgresTransaction {
    return new PostgresTransaction(connection, { ...options, seen: this.#seen, hasTenant: this.#tenant !== null });
  }

  #within(transaction: PostgresTransaction): PostgresDatabase {
    return new PostgresDatabase(this.#server, { tenant: this.#tenant, transaction, held: this.held });
  }

  #take(): Promise<Connection> {
    if (this.#transaction) throw new Error("Cannot begin a transaction: another one is open on this connection");
    return this.#server.take();
  }
}

async function undo(
  connection: Connection,
  { transaction, error }: { readonly transaction: PostgresTransaction; readonly error: unknown },
): Promise<void> {
  const broken = isLost(error) || isReadOnly(error) || await transaction.rollback().then(() => false, () => true);
  connection.release(broken);
}

function postgresDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SnakeCaseCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

class SnakeCaseCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    return snakeCase(super.sanitizeIdentifier(identifier));
  }

  /** Unlike SQLite, PostgreSQL allows no empty list in a condition. */
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length === 0) this.append("(NULL)");
    else super.visitPrimitiveValueList(node);
  }
}

interface Held {
  readonly epoch: number;
  over: boolean;
}

class HeldRuns {
  node = "";
  readonly #runs = new Map<string, Held>();

  take(queryId: string, epoch: number): void {
    this.#runs.set(queryId, { epoch, over: false });
  }

  ended(queryId: string): void {
    const held = this.#runs.get(queryId);
    if (held) held.over = true;
  }

  /** A lost run stays known, because a part of it may still write. */
  forget(queryId: string): void {
    if (this.#runs.get(queryId)?.over) this.#runs.delete(queryId);
  }

  /** Throws `TakenOverError` if this node took the run and no longer holds the run. `holder` is the node with its
   * epoch, or null without a job. */
  check({ id, holder }: { readonly id: string; readonly holder: string | null }): void {
    const held = this.#runs.get(id);
    if (!held) return;
    const isHeld = holder === null ? held.over : holder === `${this.node} ${held.epoch}`;
    if (!isHeld) throw new TakenOverError(id);
  }
}

const POSTGRES: DatabaseDialect = {
  textBytes: Infinity,
  valueBytes: 1 << 20,
  contentBytes: 1 << 20,
  hasDifferences: false,
  locksByChange: true,
  search: {
    isExact: false,
    isShared: false,
    termReader: (db) =>
      Promise.resolve(async (token) => {
        const { rows } = await sql<{ readonly term: string }>`
          SELECT DISTINCT term FROM search s, unnest(tsvector_to_array(s.words)) term
          WHERE has_unspaced(s.words) AND ${isSeen(db, "s.tenant")} AND strpos(term, ${token}) > 0`.execute(db);
        return rows.map(({ term }) => term);
      }),
    match: (db, { words, joined }) => {
      const wanted = sql`CAST(${WORDS.query([...words], joined)} AS tsquery)`;
      // Normalization 1 lowers the rank of long texts.
      return {
        where: sql`s.words @@ ${wanted} AND ${isSeen(db, "s.tenant")}`,
        order: sql`ts_rank(s.words, ${wanted}, 1) DESC, s.rowid DESC`,
        isRanked: true,
      };
    },
    inside: (_db, word) =>
      WORDS.of(word).map((part) =>
        sql`EXISTS (SELECT 1 FROM unnest(tsvector_to_array(s.words)) one WHERE strpos(one, ${part}) > 0)`
      ),
    all: (db) => [isSeen(db, "s.tenant")],
  },
  erasure: {
    referencesOf: () => Promise.resolve([]),
    orphansOf: () => Promise.resolve([]),
    erase: eraseOnServer,
    removing: async (tx, conversationId, remove) => {
      for (const table of STAYING_TABLES) {
        const rows = sql`${sql.raw(snakeCase(table))} t WHERE ${isOfConversation(table, conversationId)}`;
        await sql`DELETE FROM ${rows}`.execute(tx);
      }
      return await remove();
    },
    dropLarge: (db, { hash }) => dropLargeRows(db, hash),
  },

  isTenant: (expression, tenant) => sql<boolean>`${sql.raw(expression)} = ${tenant}`,
  wholeText: (cell) => sql.raw(cell),
  jsonText: (cell, key) => sql<string | null>`(json_of(${sql.raw(cell)}) ->> ${sql.lit(key)})`,
  hasJson: (column, path, value) => {
    const found = sql`CAST(json_of(${sql.raw(column)}) #> CAST(${path} AS text[]) AS text)`;
    return sql<boolean>`${found} = CAST(json_of(${JSON.stringify(value)}) AS text)`;
  },
  isListed: (column, json) =>
    sql`${sql.ref(column)} = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(${json} AS jsonb))))`,
  byteLength: (column) => `octet_length(${column})`,
  mentionsContent: (column) => `strpos(${column}, 'sha256:') > 0`,
  externalId: (conversation) => sql.raw(`${conversation}.external_id`),
  // A column of bytes cannot contain text, so the metadata of the variable names the content.
  largeCell: () => null,
  newestVersions: ({ by, columns, from }) =>
    sql`SELECT DISTINCT ON (${sql.raw(by)}) ${sql.raw(columns)}, e.version FROM ${from}
      ORDER BY ${sql.raw(by)}, e.version DESC`,

  holderOf: (id, isLocked = true) => {
    const lock = sql.raw(isLocked ? "FOR SHARE" : "");
    return sql<string | null>`(SELECT node_id || ' ' || epoch FROM job WHERE query_id = ${sql.raw(id)} ${lock})`;
  },
  versionOf: (run) => sql<string | null>`CAST(${sql.raw(run)}.xmin AS text)`,
  hasNoJob: (run) => sql<boolean>`NOT EXISTS (SELECT FROM job WHERE query_id = ${sql.raw(run)})`,
  hasRunningJob: async (tx, branchId) => {
    const { rows } = await sql`
      SELECT FROM job j JOIN query_state s ON s.id = j.query_id
      WHERE j.conversation_state_id = ${branchId} AND s.status = 'running'`.execute(tx);
    return rows.length > 0;
  },
  keyedJobs: async (db, key) => {
    const { rows } = await sql<Awaited<ReturnType<DatabaseDialect["keyedJobs"]>>[number]>`
      SELECT conversation_state_id, query_id AS query_state_id, fingerprint FROM job WHERE request_key = ${key}`
      .execute(db);
    return rows;
  },

  nextActivity: async (tx) => {
    const { rows: [sequence] } = await sql<{ next: number }>`SELECT nextval('activity') AS next`.execute(tx);
    return sequence?.next ?? 1;
  },
  // The last value of the sequence is the number of the conversation at the front.
  moveToFront: async (tx, { id }) => {
    await tx.store(
      `UPDATE conversation_soul SET activity = nextval('activity')
       WHERE id = $1 AND activity <> (SELECT last_value FROM activity)`,
      [id],
    );
  },
  // One statement stores both changes, so that other writes need not wait for a transaction.
  storeBoth: async (db, first, second) => {
    await first(db.with("also", (also) => second(also) as never)).execute();
  },
  deferReferences: async (tx) => {
    await sql`SET CONSTRAINTS ALL DEFERRED`.execute(tx);
  },
  // The numbers of later rows must follow the numbers of the copied rows.
  afterCopy: async (tx) => {
    for (const table of USER_TABLES) {
      const [first] = orderOf(table);
      if (first !== "rowid" && first !== "id") continue;
      const name = snakeCase(table);
      await sql`SELECT setval(pg_get_serial_sequence(${name}, ${first}), max(${sql.raw(first)})) FROM ${sql.raw(name)}`
        .execute(tx);
    }
    await sql`SELECT setval('activity', max(activity)) FROM conversation_soul WHERE activity > 0`.execute(tx);
  },
  // For a row without an owner, a policy fails before a constraint.
  breaksRule: (error): error is Error =>
    error instanceof Error && /^(?:23|42501$)/.test(sqlState(error)) && !isUnmarked(error),
};

/** A process that stops within a transaction must not keep its locks. */
const IDLE_MS = 5_000, IDLE_READ_MS = 60_000;

interface TransactionOptions {
  readonly begin: string;
  readonly seen: string;
  readonly mark: ((run: SeenRun | null) => Statement) | null;
  readonly hasTenant: boolean;
  readonly ofRun: boolean;
}

/** Changes wait, and go to the server together: before the next read, before a change that must follow them, or at the
 * end. */
class PostgresTransaction {
  readonly #connection: Connection;
  readonly #options: TransactionOptions;
  readonly #batch = new WriteBatch();
  readonly #sent: Promise<unknown>[] = [];
  #isBegun = false;
  #isMarked = false;
  #run: SeenRun | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(connection: Connection, options: TransactionOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  get isMarked(): boolean {
    return this.#isMarked;
  }

  expect(run: SeenRun): void {
    this.#run = run;
  }

  /** If an earlier statement of the transaction has failed, this statement rejects with the earlier error. */
  async query(text: string, { parameters = [], prepared = false }: QueryOptions): Promise<Result> {
    this.#flush();
    const statement = { text, parameters };
    const isAlone = this.#options.ofRun && !this.#isBegun && isRead(text);
    try {
      return await (isAlone ? this.#alone(statement, prepared) : this.#send(statement, prepared));
    } catch (error) {
      throw this.#failure ? this.#failure.error : error;
    }
  }

  store(text: string, parameters: readonly unknown[]): void {
    const statement = { text, parameters };
    if (isChange(text)) return this.#put(() => this.#batch.change(statement));
    this.#flush();
    this.#add(this.#send(statement, true));
  }

  insert(table: string, given: ResultRow): void {
    const cells = typeof given["result"] === "string" ? { ...given, result: referenceBytes(given["result"]) } : given;
    this.#put(() => this.#batch.insert({ table, cells }));
    this.#index(table, cells);
  }

  update(table: string, change: { readonly id: string; readonly changes: ResultRow }): void {
    this.#put(() => this.#batch.change(updated(table, change)));
    this.#index(table, { ...change.changes, id: change.id });
  }

  async commit(): Promise<void> {
    if (this.#isBegun) {
      this.#flush();
      this.#add(this.#connection.query("COMMIT"));
    } else {
      const only = this.#taken();
      if (only) this.#add(this.#alone(only, true));
    }
    await Promise.all(this.#sent);
    if (this.#failure) throw this.#failure.error;
  }

  async rollback(): Promise<void> {
    if (this.#isBegun) await this.#connection.query("ROLLBACK");
  }

  #index(table: string, cells: ResultRow): void {
    for (const entry of searchEntries(table, cells)) {
      this.#put(() => this.#batch.insert({ table: "search", cells: entry, then: PUT_ENTRY }));
    }
  }

  #put(add: () => boolean): void {
    if (this.#options.hasTenant && add()) return;
    this.#flush();
    add();
  }

  #flush(): void {
    if (this.#batch.isEmpty) return;
    this.#begin();
    const statement = this.#taken();
    if (statement) this.#add(this.#query(statement, true));
  }

  #taken(): Statement | null {
    return this.#batch.isEmpty ? null : this.#batch.take(this.#mark());
  }

  #mark(): Statement | null {
    const { mark, ofRun } = this.#options;
    if (this.#isMarked || mark === null) return null;
    if (ofRun && this.#run === null) throw new Error("Cannot store a change of a run: the run was not read before");
    this.#isMarked = true;
    return mark(this.#run);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { begin, seen, mark } = this.#options;
    const idleMs = mark === null ? IDLE_READ_MS : IDLE_MS;
    this.#add(this.#connection.query(
      `${begin}; SET LOCAL vis.tenant = '${seen.replaceAll("'", "''")}';
      SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
    ));
  }

  async #alone(statement: Statement, prepared: boolean): Promise<Result> {
    const seen = this.#connection.see(this.#options.seen);
    const [result] = await Promise.all([this.#query(statement, prepared), seen]);
    return result;
  }

  #send(statement: Statement, prepared: boolean): Promise<Result> {
    this.#begin();
    const mark = this.#mark();
    if (mark && canCarry(statement.text)) return this.#query(withChange(mark, statement), prepared);
    if (mark) this.#add(this.#query(mark, true));
    return this.#query(statement, prepared);
  }

  #query({ text, parameters }: Statement, prepared: boolean): Promise<Result> {
    return this.#connection.query(text, { parameters, prepared });
  }

  #add(statement: Promise<unknown>): void {
    this.#sent.push(statement.catch((error: unknown) => {
      this.#failure ??= { error };
    }));
  }
}

interface NewRow {
  readonly table: string;
  readonly cells: ResultRow;
  readonly then?: string;
}

interface Rows {
  readonly columns: readonly string[];
  readonly then: string;
  readonly rows: ResultRow[];
}

/** A statement with several rows sends its cells as JSON, so a row with a cell above this length gets its own
 * statement. */
const MOST_BYTES = 64 * 1024;
const CHANGE = /^\s*(?:insert into|update|delete from)\s+"?(\w+)/i;

const WITH = /^\s*with\s+(?!recursive\b)/i;

/** A change does not see another change of the same statement, so each table has at most one waiting change. */
class WriteBatch {
  readonly #changes = new Map<string, Rows | Statement>();

  insert({ table, cells, then = "" }: NewRow): boolean {
    const columns = Object.keys(cells).sort();
    const known = this.#changes.get(table);
    if (this.#hasNew(WITHIN.get(table))) return false;
    if (known === undefined) {
      this.#changes.set(table, { columns, then, rows: [cells] });
      return true;
    }
    if (!("rows" in known) || [known.rows[0] ?? {}, cells].some(isLarge) || !isSame(known.columns, columns)) {
      return false;
    }
    known.rows.push(cells);
    return true;
  }

  change(statement: Statement): boolean {
    const table = changedTable(statement.text);
    if (this.#changes.has(table) || this.#hasNew(WITHIN.get(table))) return false;
    this.#changes.set(table, statement);
    return true;
  }

  /** A policy does not see rows of its own statement, so rows that depend on the table must wait. */
  #hasNew(table = ""): boolean {
    return "rows" in (this.#changes.get(table) ?? {});
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  take(other: Statement | null): Statement | null {
    const all = [...this.#changes].map(([table, change]) => "rows" in change ? inserted(table, change) : change);
    this.#changes.clear();
    return all.reduceRight<Statement | null>((after, before) => after ? withChange(before, after) : before, other);
  }
}

function isChange(text: string): boolean {
  return CHANGE.test(text);
}

function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text) || WITH.test(text);
}

function canCarry(text: string): boolean {
  return isChange(text) || isRead(text);
}

/** Both parts are one statement, so neither part sees the effect of the other. */
function withChange(change: Statement, { text, parameters }: Statement): Statement {
  const from = parameters.length;
  const moved = change.text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + from}`);
  const named = `c${from} AS (${moved})`;
  return {
    text: WITH.test(text) ? text.replace(WITH, () => `WITH ${named}, `) : `WITH ${named} ${text}`,
    parameters: [...parameters, ...change.parameters],
  };
}

function updated(
  table: string,
  { id, changes }: { readonly id: string; readonly changes: ResultRow },
): Statement {
  const set = Object.keys(changes).map((column, at) => `${snakeCase(column)} = $${at + 1}`);
  const parameters = [...Object.values(changes), id];
  return { text: `UPDATE ${table} SET ${set.join(", ")} WHERE id = $${parameters.length}`, parameters };
}

function inserted(table: string, { columns, then, rows }: Rows): Statement {
  const names = columns.map(snakeCase);
  const into = `INSERT INTO ${table} (${names.join(", ")})`;
  const [first = {}, ...others] = rows;
  if (others.length === 0) {
    const places = names.map((_, at) => `$${at + 1}`).join(", ");
    return { text: `${into} VALUES (${places}) ${then}`, parameters: columns.map((column) => first[column]) };
  }
  // Each text becomes a prepared statement, so the text must not depend on the number of rows.
  const list = rows.map((row) => Object.fromEntries(columns.map((column) => [snakeCase(column), asJson(row[column])])));
  return {
    text: `${into} SELECT ${names.join(", ")} FROM json_populate_recordset(NULL::${table}, $1) ${then}`,
    parameters: [JSON.stringify(list)],
  };
}

/** PostgreSQL texts can contain neither NUL nor lone surrogates. */
function asJson(cell: unknown): unknown {
  if (typeof cell === "string") return cell.toWellFormed().replaceAll("\0", "\ufffd");
  return cell instanceof Uint8Array ? `\\x${Buffer.from(cell).toString("hex")}` : cell;
}

function isLarge(cells: ResultRow): boolean {
  return Object.values(cells).some((cell) =>
    (typeof cell === "string" || cell instanceof Uint8Array) && cell.length > MOST_BYTES
  );
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

function changedTable(text: string): string {
  return CHANGE.exec(text)?.[1]?.toLowerCase() ?? "";
}
