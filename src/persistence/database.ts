import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Insertable,
  Kysely,
  type QueryCreator,
  type QueryResult,
  type RawBuilder,
  sql,
  type SqlBool,
  type Updateable,
} from "kysely";
import { DEFAULT_TENANT } from "../domain/kit/ids.ts";
import { type DatabaseSchema, snakeCase } from "./tables.ts";

export type ResultRow = Readonly<Record<string, unknown>>;

export interface RowChange {
  readonly id: string;
  readonly changes: ResultRow;
}

export interface HeldRun {
  readonly id: string;
  readonly holder: string | null;
  readonly version?: string | null;
}

export abstract class Database extends Kysely<DatabaseSchema> {
  abstract readonly dialect: DatabaseDialect;
  /** Lists and searches show only rows of this tenant; null means all tenants. */
  abstract readonly tenant: string | null;

  constructor(dialect: Dialect) {
    super({ dialect });
  }

  get ownTenant(): string {
    return this.tenant ?? DEFAULT_TENANT;
  }

  abstract of(tenant: string | null): Database;
  abstract run(sql: string, parameters: readonly unknown[]): readonly ResultRow[] | Promise<readonly ResultRow[]>;
  /** In PostgreSQL, a transaction need not wait for this statement: after a failure, its later statements fail too. */
  abstract store(sql: string, parameters: readonly unknown[]): void | Promise<void>;
  abstract insert(table: string, cells: ResultRow): void | Promise<void>;
  abstract update(table: string, change: RowChange): void | Promise<void>;
  /** `work` may run more than once, and must not depend on an earlier attempt. */
  abstract write<T>(work: (tx: Database) => Promise<T>): Promise<T>;

  /** `work` must read the run with `versionOf`. Its reads then need no locks. */
  writeRun<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.write(work);
  }

  abstract read<T>(work: (tx: Database) => Promise<T>): Promise<T>;

  readBeside<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.read(work);
  }

  /** Another transaction that locks the same name waits until this transaction ends. */
  abstract lock(name: string): Promise<void>;

  /** In PostgreSQL, throws `TakenOverError` if another node has taken a run of this node. With a version, `writeRun`
   * runs its work again if the run has another version at the commit. */
  checkHolder(_run: HeldRun): void {}

  ended(_queryId: string): void {}

  abstract close(): Promise<void>;
}

export interface DatabaseDialect {
  /** Vis stores a text that exceeds this size outside its column. */
  readonly textBytes: number;
  readonly valueBytes: number;
  readonly contentBytes: number;
  readonly hasDifferences: boolean;
  /** If true, only a change of a row protects the row from removal. */
  readonly locksByChange: boolean;
  readonly search: SearchDialect;
  readonly erasure: ErasureDialect;

  isTenant(expression: string, tenant: string): RawBuilder<boolean>;
  wholeText(cell: string): RawBuilder<string | null>;
  /** `cell` may hold a reference to `content`. */
  jsonText(cell: string, key: string): RawBuilder<string | null>;
  /** `true` differs from 1, and null differs from a missing value. */
  hasJson(column: string, path: readonly string[], value: string | number | boolean | null): RawBuilder<boolean>;
  isListed(column: string, json: string): RawBuilder<SqlBool>;
  byteLength(column: string): string;
  mentionsContent(column: string): string;
  externalId(conversation: string): RawBuilder<string | null>;
  /** The caller must store the bytes with `putLarge` first. */
  largeCell(reference: string): string | null;
  newestVersions(
    rows: { readonly by: string; readonly columns: string; readonly from: RawBuilder<unknown> },
  ): RawBuilder<unknown>;

  /** The expression yields the node that has the run, with the epoch, or NULL without a job. If `isLocked` is true, no
   * node takes the run until the transaction ends. */
  holderOf(id: string, isLocked?: boolean): RawBuilder<string | null>;
  versionOf(run: string): RawBuilder<string | null>;
  hasNoJob(run: string): RawBuilder<boolean>;
  hasRunningJob(tx: Database, branchId: string): Promise<boolean>;
  keyedJobs(
    db: Database,
    key: string,
  ): Promise<readonly Pick<DatabaseSchema["requestKey"], "conversationStateId" | "queryStateId" | "fingerprint">[]>;

  nextActivity(tx: Database): Promise<number>;
  moveToFront(tx: Database, conversation: { readonly id: string; readonly activity: number }): Promise<void>;
  storeBoth(db: Database, first: Storing, second: Storing): Promise<void>;
  deferReferences(tx: Database): Promise<void>;
  afterCopy(tx: Database): Promise<void>;
  breaksRule(error: unknown): error is Error;
}

type Storing = (db: QueryCreator<DatabaseSchema>) => { execute(): Promise<unknown> };

export interface SearchDialect {
  readonly isExact: boolean;
  readonly isShared: boolean;
  termReader(db: Database): Promise<(token: string) => Promise<readonly string[]>>;
  match(db: Database, words: SearchWords): SearchMatch;
  inside(db: Database, word: string): readonly RawBuilder<unknown>[];
  all(db: Database): readonly RawBuilder<unknown>[];
}

/** `joined` lists, by word and token, index terms in which the token touches characters of a script without spaces. */
export interface SearchWords {
  readonly words: ReadonlySet<string>;
  readonly joined: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
}

export interface SearchMatch {
  readonly where: RawBuilder<unknown>;
  readonly order: RawBuilder<unknown>;
  readonly isRanked: boolean;
}

interface ErasureDialect {
  referencesOf(tx: Database, conversationId: string): Promise<readonly string[]>;
  orphansOf(tx: Database, conversationId: string): Promise<readonly string[]>;
  erase(db: Database, work: ErasureWork): Promise<number>;
  removing<T>(tx: Database, conversationId: string, remove: () => Promise<T>): Promise<T>;
  dropLarge(
    db: Database,
    work: { readonly hash: string; readonly location: string; readonly busyMs: number },
  ): Promise<void>;
}

export interface ErasureWork {
  readonly wanted: ReadonlySet<string>;
  readonly location: string;
  readonly busyMs: number;
}

class Parameter {
  constructor(readonly name: string) {}
}

/** Kysely builds the statement once for each kind of database, so `build` must not depend on values. */
export function namedQuery<V extends object, R>(
  build: Build<V, R>,
): (db: Database, values: V) => Promise<readonly R[]> {
  const bound = binder(build);
  return async (db, values) => {
    const { sql, parameters } = bound(db, values);
    return await db.run(sql, parameters) as readonly R[];
  };
}

export function namedChange<V extends object>(build: Build<V, unknown>): (db: Database, values: V) => Promise<void> {
  const bound = binder(build);
  return async (db, values) => {
    const { sql, parameters } = bound(db, values);
    await db.store(sql, parameters);
  };
}

type Build<V, R> = (db: Database, values: V) => { compile(): CompiledQuery<R> };

function binder<V extends object>(build: Build<V, unknown>) {
  const built = new Map<DatabaseDialect, CompiledQuery>();
  return (db: Database, values: V) => {
    const known = built.get(db.dialect) ?? build(db, parametersFor(values)).compile();
    built.set(db.dialect, known);
    const { sql, parameters } = known;
    return {
      sql,
      parameters: parameters.map((one) => one instanceof Parameter ? Reflect.get(values, one.name) : one),
    };
  };
}

function parametersFor<V extends object>(values: V): V {
  return Object.fromEntries(Object.keys(values).map((name) => [name, new Parameter(name)])) as unknown as V;
}

export async function insertRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  row: Insertable<DatabaseSchema[T]>,
): Promise<void> {
  await db.insert(table, row as ResultRow);
}

export async function updateRow<T extends keyof DatabaseSchema & string>(
  db: Database,
  table: T,
  change: { readonly id: string; readonly changes: Updateable<DatabaseSchema[T]> },
): Promise<void> {
  await db.update(table, change as RowChange);
}

export function isSeen(db: Database, expression: string): RawBuilder<boolean> {
  return db.tenant === null ? sql<boolean>`true` : db.dialect.isTenant(expression, db.tenant);
}

type Table = "conversationSoul" | "conversationState" | "queryState";

const OF_BRANCH = "FROM conversation_soul c JOIN conversation_state b ON b.conversation_soul_id = c.id";
const TENANTS: Readonly<Record<Table, string>> = {
  conversationSoul: "t.tenant",
  conversationState: "(SELECT c.tenant FROM conversation_soul c WHERE c.id = t.conversation_soul_id)",
  queryState: `(SELECT c.tenant ${OF_BRANCH} JOIN query_soul q ON q.conversation_state_id = b.id
    WHERE q.id = t.query_soul_id)`,
};

export async function idsWith(
  db: Database,
  { table, prefix, where = sql<boolean>`true` }: {
    readonly table: Table;
    readonly prefix: string;
    readonly where?: RawBuilder<boolean>;
  },
): Promise<readonly string[]> {
  // An id has only hexadecimal digits and dashes, which sort before "~".
  const { rows } = await sql<{ id: string }>`SELECT t.id FROM ${sql.raw(`${snakeCase(table)} t`)}
    WHERE t.id >= ${prefix} AND t.id < ${`${prefix}~`} AND ${where} AND ${isSeen(db, TENANTS[table])} LIMIT 2`
    .execute(db);
  return rows.map(({ id }) => id);
}

/** JSON escapes lone surrogates and NUL, so the database returns the exact text. */
export function toJson(value: Readonly<Record<string, unknown>> | readonly unknown[]): string {
  return JSON.stringify(value);
}

export function fromJson<T extends object>(cell: string | null): Partial<T> {
  return cell === null ? {} : JSON.parse(cell) as Partial<T>;
}

/** A searched column cannot return lone surrogates and NUL, so U+FFFD replaces them. */
export function searchText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** The store turns `Damage` into a `StoreError` with the code "corrupt". */
export class Damage extends Error {
  override readonly name = "Damage";

  constructor(readonly what: string) {
    super(`The database is damaged: ${what}`);
  }
}

type Result = QueryResult<Record<string, unknown>>;
type RunQuery = (sql: string, parameters: readonly unknown[]) => Result | Promise<Result>;

interface Turns {
  take(): Promise<void>;
  pass(): void;
}

export class OwnDriver implements Driver {
  readonly #connection: DatabaseConnection;
  readonly #turns: Turns | null;

  /** `turns` is null if the caller holds a connection, or if `run` takes a connection. */
  constructor(run: RunQuery, turns: Turns | null = null) {
    this.#connection = {
      executeQuery: async <R>({ sql, parameters }: CompiledQuery) => await run(sql, parameters) as QueryResult<R>,
      streamQuery: () => {
        throw new Error("Cannot stream a query: this driver returns only whole results; use execute()");
      },
    };
    this.#turns = turns;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns?.take();
    return this.#connection;
  }

  releaseConnection(): Promise<void> {
    this.#turns?.pass();
    return Promise.resolve();
  }

  beginTransaction(): Promise<void> {
    return refused();
  }

  commitTransaction(): Promise<void> {
    return refused();
  }

  rollbackTransaction(): Promise<void> {
    return refused();
  }

  destroy(): Promise<void> {
    return Promise.resolve();
  }
}

function refused(): Promise<never> {
  return Promise.reject(new Error("Cannot begin a transaction of Kysely: the database has its own transactions"));
}
