import { ARCHIVE_TABLES, type CellKinds } from "../archive/cells.ts";
import type { UserTable } from "../schema/columns.ts";

interface CopiedTable extends CellKinds {
  /** The columns that order its rows, so that a row comes after those that it refers to. */
  readonly order: readonly string[];
}

const STORED = ["rowid"];

const TABLES = {
  conversationSoul: { ...ARCHIVE_TABLES.conversationSoul, order: STORED },
  // A branch has a higher version than the one that it was forked from.
  conversationState: { ...ARCHIVE_TABLES.conversationState, order: ["version", "id"] },
  querySoul: { ...ARCHIVE_TABLES.querySoul, order: STORED },
  queryState: { ...ARCHIVE_TABLES.queryState, order: STORED },
  iteration: { ...ARCHIVE_TABLES.iteration, order: STORED },
  expressionSoul: { ...ARCHIVE_TABLES.expressionSoul, order: STORED },
  expressionState: { ...ARCHIVE_TABLES.expressionState, order: STORED },
  expressionDependency: { ...ARCHIVE_TABLES.expressionDependency, order: STORED },
  childBranch: { ...ARCHIVE_TABLES.childBranch, order: STORED },
  subCall: { ...ARCHIVE_TABLES.subCall, order: STORED },
  scopeChange: { ...ARCHIVE_TABLES.scopeChange, order: ["id"] },
  extensionState: { ...ARCHIVE_TABLES.extensionState, order: STORED },
  requestKey: { order: ["conversationStateId", "key"] },
  log: { json: ["data"], order: STORED },
} as const satisfies Readonly<Record<UserTable, CopiedTable>>;

export type CopiedTableName = keyof typeof TABLES;

/** The tables that are copied to another database, in an order in which referenced tables come first. */
export const COPIED_TABLES: Readonly<Record<CopiedTableName, CopiedTable>> = TABLES;

/** The tables that are not copied: a copy makes them again, or they belong to the processes of a database. */
export const UNCOPIED_TABLES = [
  ...["content", "search", "searchEntry", "lease", "longValue", "longValuePiece"],
  ...["node", "job", "warm", "event", "command", "lastWrite", "erasure", "claim"],
] as const;
