import { type Generated, type GeneratedAlways, type RawBuilder, sql, type SqlBool } from "kysely";

/** Increases from row to row: the order in which rows were stored, independent of the clock. `selectAll` leaves it
 * out. */
interface Stored {
  readonly rowid: GeneratedAlways<number>;
}

/** The tables of the migrations in camel case; the dialects translate the names both ways. */
export interface DatabaseSchema {
  readonly content: {
    hash: string;
    encoding: "raw" | "chunks" | "delta";
    bytes: Uint8Array;
    base: string | null;
    steps: string | null;
    spent: number | null;
  };
  readonly conversationSoul: {
    id: string;
    metadata: string | null;
    createdAt: number;
    /** Increases with each conversation and each query of a user: the conversation with the highest number was used
     * last. */
    activity: number;
    tenant: string;
  };
  readonly conversationState: {
    id: string;
    conversationSoulId: string;
    parentStateId: string | null;
    title: string | null;
    version: number;
    metadata: string | null;
    createdAt: number;
    queries: Generated<number>;
  };
  readonly lease: {
    conversationStateId: string;
    host: string;
    space: Generated<string>;
    pid: number;
    started: string;
    session: Generated<number>;
    acquiredAt: number;
    heartbeatAt: number;
  };
  readonly querySoul: Stored & {
    id: string;
    conversationStateId: string;
    title: string | null;
    query: string | null;
    metadata: string | null;
    createdAt: number;
    number: number;
    runs: number;
  };
  readonly queryState: Stored & {
    id: string;
    querySoulId: string;
    forkedFromQueryStateId: string | null;
    version: number;
    llmProvider: string | null;
    llmRootModel: string | null;
    promptEnrichment: string | null;
    subtitle: string | null;
    runLabel: string | null;
    status: RunStatus;
    metadata: string | null;
    createdAt: number;
  };
  readonly iteration: Stored & {
    id: string;
    queryStateId: string;
    position: number;
    status: RunStatus;
    llmSystemPrompt: string | null;
    llmUserPrompt: string | null;
    llmProvider: string | null;
    llmModel: string | null;
    llmResponse: string | null;
    llmTraces: string | null;
    llmFullDurationMs: number | null;
    llmThinking: string | null;
    llmError: string | null;
    llmReturnedEmptyExpressions: number;
    metadata: string | null;
    createdAt: number;
    finishedAt: number | null;
  };
  readonly expressionSoul: Stored & {
    id: string;
    conversationStateId: string;
    kind: "var" | "call" | "literal";
    stateMode: "stateless" | "stateful";
    name: string | null;
    metadata: string | null;
    createdAt: number;
  };
  readonly expressionDependency: Stored & {
    id: string;
    conversationStateId: string;
    downstreamExpressionSoulId: string;
    upstreamExpressionSoulId: string;
    metadata: string | null;
    createdAt: number;
  };
  readonly expressionState: Stored & {
    id: string;
    expressionSoulId: string;
    iterationId: string;
    version: number;
    success: number;
    expr: string | null;
    /** Bytes, or a reference as text. */
    result: Uint8Array | string | null;
    error: Uint8Array | string | null;
    stdout: string | null;
    stderr: string | null;
    durationMs: number | null;
    metadata: string | null;
    createdAt: number;
  };
  readonly scopeChange: {
    id: Generated<number>;
    expressionSoulId: string;
    queryStateId: string | null;
    position: number;
    scope: "live" | "forgotten";
    createdAt: number;
  };
  readonly extensionState: Stored & {
    id: string;
    namespace: string;
    conversationStateId: string | null;
    queryStateId: string | null;
    position: number;
    key: string;
    version: number;
    value: string | null;
    createdAt: number;
    /** Of global state. In SQLite, that of a branch has none but the one of its conversation. */
    tenant: Generated<string | null>;
  };
  readonly requestKey: {
    conversationStateId: string;
    key: string;
    fingerprint: string;
    queryStateId: string;
    createdAt: number;
  };
  readonly childBranch: Stored & {
    conversationStateId: string;
    iterationId: string;
    depth: number;
    createdAt: number;
  };
  readonly subCall: Stored & {
    id: string;
    iterationId: string;
    llmProvider: string;
    llmModel: string;
    prompt: string;
    reply: string | null;
    error: string | null;
    usage: string;
    costUsd: number | null;
    durationMs: number;
    createdAt: number;
  };
  readonly erasure: { hash: string };
  readonly claim: { put: string; reference: string; claimedAt: number };
  readonly log: {
    id: string;
    level: string;
    event: string;
    data: string | null;
    conversationSoulId: string | null;
    conversationStateId: string | null;
    querySoulId: string | null;
    queryStateId: string | null;
    iterationId: string | null;
    expressionSoulId: string | null;
    expressionStateId: string | null;
    createdAt: number;
  };
}

/** The four statuses of queries and iterations. */
type RunStatus = "running" | "done" | "error" | "interrupted";

/** The columns of the tables with what users made, as they are in every database: those that an archive and a copy
 * have. They leave out the numbers by which a database orders rows. */
export const COLUMNS = {
  conversationSoul: ["id", "metadata", "createdAt", "activity", "tenant"],
  conversationState: [
    "id",
    "conversationSoulId",
    "parentStateId",
    "title",
    "version",
    "metadata",
    "createdAt",
    "queries",
  ],
  querySoul: ["id", "conversationStateId", "title", "query", "metadata", "createdAt", "number", "runs"],
  queryState: [
    "id",
    "querySoulId",
    "forkedFromQueryStateId",
    "version",
    "llmProvider",
    "llmRootModel",
    "promptEnrichment",
    "subtitle",
    "runLabel",
    "status",
    "metadata",
    "createdAt",
  ],
  iteration: [
    "id",
    "queryStateId",
    "position",
    "status",
    "llmSystemPrompt",
    "llmUserPrompt",
    "llmProvider",
    "llmModel",
    "llmResponse",
    "llmTraces",
    "llmFullDurationMs",
    "llmThinking",
    "llmError",
    "llmReturnedEmptyExpressions",
    "metadata",
    "createdAt",
    "finishedAt",
  ],
  expressionSoul: ["id", "conversationStateId", "kind", "stateMode", "name", "metadata", "createdAt"],
  expressionState: [
    "id",
    "expressionSoulId",
    "iterationId",
    "version",
    "success",
    "expr",
    "result",
    "error",
    "stdout",
    "stderr",
    "durationMs",
    "metadata",
    "createdAt",
  ],
  expressionDependency: [
    "id",
    "conversationStateId",
    "downstreamExpressionSoulId",
    "upstreamExpressionSoulId",
    "metadata",
    "createdAt",
  ],
  scopeChange: ["expressionSoulId", "queryStateId", "position", "scope", "createdAt"],
  extensionState: [
    "id",
    "namespace",
    "conversationStateId",
    "queryStateId",
    "position",
    "key",
    "version",
    "value",
    "createdAt",
    "tenant",
  ],
  requestKey: ["conversationStateId", "key", "fingerprint", "queryStateId", "createdAt"],
  childBranch: ["conversationStateId", "iterationId", "depth", "createdAt"],
  subCall: [
    "id",
    "iterationId",
    "llmProvider",
    "llmModel",
    "prompt",
    "reply",
    "error",
    "usage",
    "costUsd",
    "durationMs",
    "createdAt",
  ],
  log: [
    "id",
    "level",
    "event",
    "data",
    "conversationSoulId",
    "conversationStateId",
    "querySoulId",
    "queryStateId",
    "iterationId",
    "expressionSoulId",
    "expressionStateId",
    "createdAt",
  ],
} as const satisfies { readonly [T in keyof DatabaseSchema]?: readonly (keyof DatabaseSchema[T])[] };

export type UserTable = keyof typeof COLUMNS;

const BRANCHES = "SELECT id FROM conversation_state WHERE conversation_soul_id = $id";
const QUERIES = `SELECT id FROM query_soul WHERE conversation_state_id IN (${BRANCHES})`;
const RUNS = `SELECT id FROM query_state WHERE query_soul_id IN (${QUERIES})`;
const ITERATIONS = `SELECT id FROM iteration WHERE query_state_id IN (${RUNS})`;
const SOULS = `SELECT id FROM expression_soul WHERE conversation_state_id IN (${BRANCHES})`;
const OF_BRANCH = `t.conversation_state_id IN (${BRANCHES})`;
const OF_VARIABLE = `t.expression_soul_id IN (${SOULS})`;
const OF_QUERY = `t.query_id IN (${RUNS})`;

interface ConversationTable {
  /** The rows of the table `t` that belong to the conversation `$id`. */
  readonly rows: string;
  /** Whether a row can refer to content. */
  readonly refers?: true;
  /** Whether a row stays when the conversation is deleted, since no foreign key leads to it. Only PostgreSQL has such
   * tables. */
  readonly stays?: true;
}

const TABLES = {
  conversationSoul: { rows: "t.id = $id", refers: true },
  conversationState: { rows: "t.conversation_soul_id = $id", refers: true },
  lease: { rows: OF_BRANCH },
  querySoul: { rows: OF_BRANCH, refers: true },
  queryState: { rows: `t.query_soul_id IN (${QUERIES})`, refers: true },
  iteration: { rows: `t.query_state_id IN (${RUNS})`, refers: true },
  expressionSoul: { rows: OF_BRANCH, refers: true },
  expressionState: { rows: OF_VARIABLE, refers: true },
  expressionDependency: { rows: OF_BRANCH, refers: true },
  scopeChange: { rows: OF_VARIABLE },
  extensionState: { rows: OF_BRANCH, refers: true },
  requestKey: { rows: OF_BRANCH },
  childBranch: { rows: OF_BRANCH },
  subCall: { rows: `t.iteration_id IN (${ITERATIONS})`, refers: true },
  log: {
    rows: `t.conversation_soul_id = $id OR t.conversation_state_id IN (${BRANCHES}) OR t.query_state_id IN (${RUNS})`,
    refers: true,
  },
  job: { rows: OF_BRANCH },
  warm: { rows: OF_BRANCH, stays: true },
  event: { rows: OF_QUERY, stays: true },
  command: { rows: OF_QUERY, stays: true },
} as const satisfies Readonly<Record<string, ConversationTable>>;

export type ConversationTableName = keyof typeof TABLES;

/** Every table with rows that belong to one conversation. */
export const CONVERSATION_TABLES: Readonly<Record<ConversationTableName, ConversationTable>> = TABLES;

export const CONVERSATION_TABLE_NAMES = Object.keys(TABLES) as readonly ConversationTableName[];

/** The other tables: triggers maintain them, conversations share them by hash, or they belong to processes. */
export const SHARED_TABLES = [
  ...["search", "searchEntry"],
  ...["content", "longValue", "longValuePiece", "erasure", "claim"],
  ...["node", "lastWrite"],
] as const;

/** Whether a row of the table, which the statement calls `t`, belongs to a conversation. */
export function isOfConversation(table: ConversationTableName, conversationId: string): RawBuilder<SqlBool> {
  const [first = "", ...rest] = CONVERSATION_TABLES[table].rows.split("$id");
  const parts = rest.map((part) => sql`${conversationId}${sql.raw(part)}`);
  return sql<SqlBool>`(${sql.raw(first)}${sql.join(parts, sql``)})`;
}

/** There are as many as the schema has. */
const SNAKE_NAMES = new Map<string, string>();

/** Converts the camel-case name of a table or column to its name in the database. */
export function snakeCase(name: string): string {
  let found = SNAKE_NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    SNAKE_NAMES.set(name, found);
  }
  return found;
}

/** There are as many as the schema and the queries have. */
const CAMEL_NAMES = new Map<string, string>();

/** Converts the name of a column in the database to camel case. */
export function columnName(name: string): string {
  let found = CAMEL_NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    CAMEL_NAMES.set(name, found);
  }
  return found;
}
