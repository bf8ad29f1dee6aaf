import { type RawBuilder, sql, type SqlBool } from "kysely";

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
