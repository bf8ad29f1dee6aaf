import { type Generated, type GeneratedAlways, type RawBuilder, sql, type SqlBool } from "kysely";

/** A `searched` text and `plainJson` stay in their column. Other long texts, JSON and values may become references to
 * `content`. */
type Kind =
  | ("id" | "time" | "place" | "integer" | "real")
  | ("text" | "searched" | "long" | "json" | "plainJson" | "bytes" | "jsonBytes");

export interface TableColumn<T = unknown, K extends Kind = Kind> {
  readonly kind: K;
  readonly nullable?: true;
  /** If a row omits this column, the database fills it in. */
  readonly filled?: true;
  /** The value is valid only in this database, so an archive omits the column, and an import sets a new value. */
  readonly local?: true;
  readonly oneOf?: readonly string[];
  readonly atLeast?: number;
  readonly cell?: T;
}

const id: TableColumn<string, "id"> = { kind: "id" };
const time: TableColumn<number, "time"> = { kind: "time" };
const place: TableColumn<Generated<number>, "place"> = { kind: "place", filled: true };
const integer: TableColumn<number, "integer"> = { kind: "integer" };
const real: TableColumn<number, "real"> = { kind: "real" };
const text: TableColumn<string, "text"> = { kind: "text" };
const searched: TableColumn<string, "searched"> = { kind: "searched" };
const long: TableColumn<string, "long"> = { kind: "long" };
const json: TableColumn<string, "json"> = { kind: "json" };
const plainJson: TableColumn<string, "plainJson"> = { kind: "plainJson" };
const bytes: TableColumn<Uint8Array | string, "bytes"> = { kind: "bytes" };
const jsonBytes: TableColumn<Uint8Array | string, "jsonBytes"> = { kind: "jsonBytes" };

function atLeast(least: number): TableColumn<number, "integer"> {
  return { kind: "integer", atLeast: least };
}

function oneOf<T extends string>(...values: readonly T[]): TableColumn<T, "text"> {
  return { kind: "text", oneOf: values };
}

function orNull<T, K extends Kind>({ kind, ...facts }: TableColumn<T, K>): TableColumn<T | null, K> {
  return { kind, ...facts, nullable: true } as TableColumn<T | null, K>;
}

function filled<T, K extends Kind>({ kind, ...facts }: TableColumn<T, K>): TableColumn<Generated<T>, K> {
  return { kind, ...facts, filled: true } as TableColumn<Generated<T>, K>;
}

function local<T, K extends Kind>(column: TableColumn<T, K>): TableColumn<T, K> & { readonly local: true } {
  return { ...column, local: true };
}

interface TableDescription {
  readonly columns: Readonly<Record<string, TableColumn>>;
  readonly within?: string;
  /** `$id` is the conversation, and `t` is the table. */
  readonly rows?: string;
  /** These columns order the rows of a user table, so that a row follows the rows to which it refers. */
  readonly order?: readonly string[];
  readonly archived?: true;
}

const BRANCHES = "SELECT id FROM conversation_state WHERE conversation_soul_id = $id";
const QUERIES = `SELECT id FROM query_soul WHERE conversation_state_id IN (${BRANCHES})`;
const RUNS = `SELECT id FROM query_state WHERE query_soul_id IN (${QUERIES})`;
const ITERATIONS = `SELECT id FROM iteration WHERE query_state_id IN (${RUNS})`;
const SOULS = `SELECT id FROM expression_soul WHERE conversation_state_id IN (${BRANCHES})`;
const OF_BRANCH = `t.conversation_state_id IN (${BRANCHES})`;
const OF_VARIABLE = `t.expression_soul_id IN (${SOULS})`;
const OF_QUERY = `t.query_id IN (${RUNS})`;

const STORED = ["rowid"] as const;
const STATUS = oneOf("running", "done", "error", "interrupted");

/** Each table follows the tables to which it refers. The migrations make the tables, and a test compares them with this
 * description. */
export const TABLES = {
  conversationSoul: {
    rows: "t.id = $id",
    order: STORED,
    archived: true,
    columns: {
      id,
      metadata: orNull(json),
      createdAt: time,
      /** The most recently used conversation has the highest number. */
      activity: local(integer),
      tenant: local(text),
    },
  },
  conversationState: {
    within: "conversationSoul",
    rows: "t.conversation_soul_id = $id",
    // A branch has a higher version than its parent.
    order: ["version", "id"],
    archived: true,
    columns: {
      id,
      conversationSoulId: id,
      parentStateId: orNull(id),
      title: orNull(long),
      version: atLeast(0),
      metadata: orNull(plainJson),
      createdAt: time,
      queries: local(filled(integer)),
    },
  },
  querySoul: {
    within: "conversationState",
    rows: OF_BRANCH,
    order: STORED,
    archived: true,
    columns: {
      id,
      conversationStateId: id,
      title: orNull(long),
      query: orNull(searched),
      metadata: orNull(json),
      createdAt: time,
      number: local(integer),
      runs: local(integer),
    },
  },
  queryState: {
    within: "querySoul",
    rows: `t.query_soul_id IN (${QUERIES})`,
    order: STORED,
    archived: true,
    columns: {
      id,
      querySoulId: id,
      forkedFromQueryStateId: orNull(id),
      version: atLeast(0),
      llmProvider: orNull(text),
      llmRootModel: orNull(text),
      promptEnrichment: orNull(long),
      subtitle: orNull(long),
      runLabel: orNull(long),
      status: STATUS,
      metadata: orNull(json),
      createdAt: time,
    },
  },
  iteration: {
    within: "queryState",
    rows: `t.query_state_id IN (${RUNS})`,
    order: STORED,
    archived: true,
    columns: {
      id,
      queryStateId: id,
      position: atLeast(0),
      status: STATUS,
      llmSystemPrompt: orNull(long),
      llmUserPrompt: orNull(long),
      llmProvider: orNull(text),
      llmModel: orNull(text),
      llmResponse: orNull(long),
      llmTraces: orNull(json),
      llmFullDurationMs: orNull(atLeast(0)),
      llmThinking: orNull(long),
      llmError: orNull(long),
      llmReturnedEmptyExpressions: integer,
      metadata: orNull(json),
      createdAt: time,
      finishedAt: orNull(time),
    },
  },
  expressionSoul: {
    within: "conversationState",
    rows: OF_BRANCH,
    order: STORED,
    archived: true,
    columns: {
      id,
      conversationStateId: id,
      kind: oneOf("var", "call", "literal"),
      stateMode: oneOf("stateless", "stateful"),
      name: orNull(text),
      metadata: orNull(plainJson),
      createdAt: time,
    },
  },
  expressionState: {
    within: "iteration",
    rows: OF_VARIABLE,
    order: STORED,
    archived: true,
    columns: {
      id,
      expressionSoulId: id,
      iterationId: id,
      version: atLeast(0),
      success: integer,
      expr: orNull(searched),
      result: orNull(bytes),
      error: orNull(jsonBytes),
      stdout: orNull(long),
      stderr: orNull(long),
      durationMs: orNull(atLeast(0)),
      metadata: orNull(json),
      createdAt: time,
    },
  },
  expressionDependency: {
    within: "conversationState",
    rows: OF_BRANCH,
    order: STORED,
    archived: true,
    columns: {
      id,
      conversationStateId: id,
      downstreamExpressionSoulId: id,
      upstreamExpressionSoulId: id,
      metadata: orNull(plainJson),
      createdAt: time,
    },
  },
  scopeChange: {
    within: "expressionSoul",
    rows: OF_VARIABLE,
    order: ["id"],
    archived: true,
    columns: {
      id: place,
      expressionSoulId: id,
      queryStateId: orNull(id),
      position: atLeast(-1),
      scope: oneOf("live", "forgotten"),
      createdAt: time,
    },
  },
  extensionState: {
    within: "conversationState",
    rows: OF_BRANCH,
    order: STORED,
    archived: true,
    columns: {
      id,
      namespace: text,
      conversationStateId: orNull(id),
      queryStateId: orNull(id),
      position: atLeast(-1),
      key: text,
      version: atLeast(1),
      value: orNull(long),
      createdAt: time,
      /** Global state has a tenant here. The state of a branch belongs to the tenant of its conversation. */
      tenant: local(filled(orNull(text))),
    },
  },
  childBranch: {
    within: "conversationState",
    rows: OF_BRANCH,
    order: STORED,
    archived: true,
    columns: { conversationStateId: id, iterationId: id, depth: atLeast(1), createdAt: time },
  },
  subCall: {
    within: "iteration",
    rows: `t.iteration_id IN (${ITERATIONS})`,
    order: STORED,
    archived: true,
    columns: {
      id,
      iterationId: id,
      llmProvider: text,
      llmModel: text,
      prompt: long,
      reply: orNull(long),
      error: orNull(long),
      usage: plainJson,
      costUsd: orNull(real),
      durationMs: atLeast(0),
      createdAt: time,
    },
  },
  requestKey: {
    within: "conversationState",
    rows: OF_BRANCH,
    order: ["conversationStateId", "key"],
    columns: { conversationStateId: id, key: text, fingerprint: text, queryStateId: id, createdAt: time },
  },
  log: {
    rows: `t.conversation_soul_id = $id OR t.conversation_state_id IN (${BRANCHES}) OR t.query_state_id IN (${RUNS})`,
    order: STORED,
    columns: {
      id,
      level: oneOf("trace", "debug", "info", "warn", "error", "fatal"),
      event: text,
      data: orNull(json),
      conversationSoulId: orNull(id),
      conversationStateId: orNull(id),
      querySoulId: orNull(id),
      queryStateId: orNull(id),
      iterationId: orNull(id),
      expressionSoulId: orNull(id),
      expressionStateId: orNull(id),
      createdAt: time,
    },
  },
  lease: {
    within: "conversationState",
    rows: OF_BRANCH,
    columns: {
      conversationStateId: id,
      host: text,
      space: filled(text),
      pid: integer,
      started: text,
      session: filled(integer),
      acquiredAt: time,
      heartbeatAt: time,
    },
  },
  content: {
    columns: {
      hash: text,
      encoding: oneOf("raw", "chunks", "delta"),
      bytes: { kind: "bytes" } as TableColumn<Uint8Array, "bytes">,
      base: orNull(text),
      steps: orNull(text),
      spent: orNull(integer),
    },
  },
  erasure: { columns: { hash: text } },
  claim: { columns: { put: text, reference: text, claimedAt: time } },
} as const satisfies Readonly<Record<string, TableDescription>>;

/** With `stays`, no foreign key removes the rows of a deleted conversation. */
const NODE_TABLES = {
  job: { rows: OF_BRANCH },
  warm: { rows: OF_BRANCH, stays: true },
  event: { rows: OF_QUERY, stays: true },
  command: { rows: OF_QUERY, stays: true },
} as const satisfies Readonly<Record<string, { readonly rows: string; readonly stays?: true }>>;

export const OTHER_TABLES = ["search", "searchEntry", "longValue", "longValuePiece", "node", "lastWrite"] as const;

type Tables = typeof TABLES;
type TableName = keyof Tables;

type CellsOf<C> = { -readonly [N in keyof C]: C[N] extends TableColumn<infer T> ? T : never };
/** `rowid` is the order of storage, independent of the clock. */
type StoredOf<T> = T extends { readonly order: typeof STORED } ? { readonly rowid: GeneratedAlways<number> } : unknown;

export type DatabaseSchema = { readonly [T in TableName]: CellsOf<Tables[T]["columns"]> & StoredOf<Tables[T]> };

export type UserTable = { [T in TableName]: Tables[T] extends { readonly order: unknown } ? T : never }[TableName];
export type ArchivedTable = { [T in TableName]: Tables[T] extends { readonly archived: true } ? T : never }[TableName];

const described: Readonly<Record<TableName, TableDescription>> = TABLES;
const names = Object.keys(TABLES) as readonly TableName[];

type Replaced<V, By> = null extends V ? By | null : By;
type Given<C, Long, Bytes> = C extends TableColumn<infer V, infer K>
  ? K extends "long" ? Replaced<V, Long> : K extends "bytes" ? Replaced<V, Bytes> : V
  : never;

export type ArchivedRow<T extends ArchivedTable, Long, Bytes> = {
  -readonly [
    C in keyof Tables[T]["columns"] as Tables[T]["columns"][C] extends
      { readonly local: true } | { readonly kind: "place" } ? never
      : C
  ]: Given<Tables[T]["columns"][C], Long, Bytes>;
};

export const USER_TABLES = names.filter((name): name is UserTable => described[name].order !== undefined);
export const ARCHIVED_TABLES = names.filter((name): name is ArchivedTable => described[name].archived === true);

export function orderOf(table: UserTable): readonly string[] {
  return described[table].order ?? [];
}

export function columnsOf(table: TableName): Readonly<Record<string, TableColumn>> {
  return described[table].columns;
}

export function columnsOfKind(table: TableName, ...kinds: readonly Kind[]): readonly string[] {
  return Object.entries(columnsOf(table)).filter(([, { kind }]) => kinds.includes(kind)).map(([name]) => name);
}

export function archivedColumns(table: ArchivedTable): readonly string[] {
  return Object.entries(columnsOf(table)).filter(([, { kind, local: isLocal }]) => kind !== "place" && !isLocal)
    .map(([name]) => name);
}

const SNAKE_NAMES = new Map<string, string>();

export function snakeCase(name: string): string {
  let found = SNAKE_NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    SNAKE_NAMES.set(name, found);
  }
  return found;
}

const CAMEL_NAMES = new Map<string, string>();

export function columnName(name: string): string {
  let found = CAMEL_NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    CAMEL_NAMES.set(name, found);
  }
  return found;
}

export const WITHIN: ReadonlyMap<string, string> = new Map(names.flatMap((name) => {
  const { within } = described[name];
  return within === undefined ? [] : [[snakeCase(name), snakeCase(within)] as const];
}));

type Owned = { [T in TableName]: Tables[T] extends { readonly rows: string } ? T : never }[TableName];
export type ConversationTableName = Owned | keyof typeof NODE_TABLES;

const rowsIn: Readonly<Partial<Record<ConversationTableName, string>>> = Object.fromEntries(
  Object.entries({ ...described, ...NODE_TABLES }).flatMap(([name, { rows }]) =>
    rows === undefined ? [] : [[name, rows]]
  ),
);

export const CONVERSATION_TABLES = Object.keys(rowsIn) as readonly ConversationTableName[];

export const STAYING_TABLES = Object.entries(NODE_TABLES).filter(([, table]) => "stays" in table)
  .map(([name]) => name as keyof typeof NODE_TABLES);

export const REFERRING_TABLES = names.filter((name): name is Owned =>
  described[name].rows !== undefined &&
  columnsOfKind(name, "long", "json", "plainJson", "bytes", "jsonBytes").length > 0
);

export function isOfConversation(table: ConversationTableName, conversationId: string): RawBuilder<SqlBool> {
  const [first = "", ...rest] = (rowsIn[table] ?? "").split("$id");
  const parts = rest.map((part) => sql`${conversationId}${sql.raw(part)}`);
  return sql<SqlBool>`(${sql.raw(first)}${sql.join(parts, sql``)})`;
}
