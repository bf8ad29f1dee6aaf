import { type Dialect, Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import type { DatabaseSchema } from "../schema/schema.ts";

export type ResultRow = Readonly<Record<string, unknown>>;

export interface RowChange {
  readonly id: string;
  readonly changes: ResultRow;
}

/** A run, as it was read. */
export interface HeldRun {
  readonly id: string;
  /** `Database.holderOf`. */
  readonly holder: string | null;
  /** `Database.versionOf`. */
  readonly version?: string | null;
}

/** What queries are built on: a database, or a transaction in it. Everything that the databases do differently is
 * here; all other code runs on each of them. */
export abstract class Database extends Kysely<DatabaseSchema> {
  abstract readonly kind: "sqlite" | "postgres";
  /** Whose rows are seen; null for those of all tenants. */
  abstract readonly tenant: string | null;

  constructor(dialect: Dialect) {
    super({ dialect });
  }

  /** The tenant of what is created. */
  get ownTenant(): string {
    return this.tenant ?? DEFAULT_TENANT;
  }

  /** The same database as another tenant sees it. */
  abstract of(tenant: string | null): Database;
  /** Runs SQL that a Kysely builder has compiled and returns its rows. */
  abstract run(sql: string, parameters: readonly unknown[]): readonly ResultRow[] | Promise<readonly ResultRow[]>;
  /** Runs a statement whose rows nobody needs. A transaction need not wait for it: if it fails, so does what follows it
   * there, with the same error. */
  abstract store(sql: string, parameters: readonly unknown[]): void | Promise<void>;
  /** Inserts a row; a transaction need not wait for it either. */
  abstract insert(table: string, cells: ResultRow): void | Promise<void>;
  /** Changes cells of the row with an id, in the same way. */
  abstract update(table: string, change: RowChange): void | Promise<void>;
  /** Runs a transaction that writes: all of `work` is stored when this resolves, nothing of it when it rejects. It may
   * run more than once, so it must not depend on what it did before. */
  abstract write<T>(work: (tx: Database) => Promise<T>): Promise<T>;

  /** The same for what a run of this process stores: the run must be read with `versionOf`. Nothing is stored if it has
   * changed since, so that its reads need no locks. */
  writeRun<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.write(work);
  }

  /** Runs reads on one snapshot. */
  abstract read<T>(work: (tx: Database) => Promise<T>): Promise<T>;

  /** The same for reads that take long: on a connection of their own, if this database can have another one. */
  readBeside<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    return this.read(work);
  }

  /** Makes other transactions that lock the same name wait for the end of this one. */
  abstract lock(name: string): Promise<void>;

  /** The node that has a run, and under which epoch, for the statement that reads the run at the beginning of each of its
   * writes: if it is locked, no node takes it until the transaction ends. `id` is the column with its id. */
  holderOf(_id: string, _isLocked = true): RawBuilder<string | null> {
    return sql<null>`NULL`;
  }

  /** The version of the row of a run, which is read as `run`. */
  versionOf(_run: string): RawBuilder<string | null> {
    return sql<null>`NULL`;
  }

  /** Throws `TakenOverError` if this process ran it as a node and another node has taken it. With a version, what is
   * stored from now on depends on it. */
  checkHolder(_run: HeldRun): void {}

  /** This process has stored the end of a run. */
  ended(_queryId: string): void {}

  /** From now on, rows of this transaction may refer to rows that it inserts later. */
  abstract deferReferences(): Promise<void>;
  /** Whether rows violate a rule of the schema. */
  abstract breaksRule(error: unknown): error is Error;
  /** The text of a cell, which may be in `content`. */
  abstract wholeText(cell: string): RawBuilder<string | null>;
  /** The text at a key of the JSON in a cell, which may be in `content`; NULL if there is none. */
  abstract jsonText(cell: string, key: string): RawBuilder<string | null>;
  /** Whether the text of a column is in a JSON list. */
  abstract isListed(column: string, json: string): RawBuilder<SqlBool>;
  /** Stores pending writes and closes the connection. */
  abstract close(): Promise<void>;
}
