import type { VariableImage } from "../query/variable.ts";

/** A chat outside Vis, identified by its id within its channel. */
export interface ExternalChat {
  readonly channel: string;
  readonly externalId: string;
}

export interface NewConversation {
  readonly title: string;
  /** The title is a placeholder until the first request provides one. */
  readonly untitled?: boolean;
  readonly channel: string;
  /** The real path of the workspace. */
  readonly workspace: string;
  /** The id of the chat, if the channel has chats. */
  readonly externalId?: string;
}

/** A point in the history of a branch. */
export interface BranchPoint {
  /** The run of a query (`query_state.id`) in the branch. */
  readonly queryId: string;
  /** The last included iteration (0-based); null for all of them, -1 for the state before the query. */
  readonly position: number | null;
}

/** A new branch that forks from another one at this point. */
export interface NewFork extends BranchPoint {
  /** The title; by default the original branch's. */
  readonly title?: string;
}

/** A branch below a conversation in which one sub-query runs. */
export interface NewChildBranch {
  /** The branch of the parent query. */
  readonly branchId: string;
  /** The parent's iteration that started the sub-query. */
  readonly iterationId: string;
  /** The depth is 1 for a sub-query of a user's query. */
  readonly depth: number;
  readonly title: string;
  /** Variables that the child starts with. */
  readonly images: readonly VariableImage[];
  /** Names of variables that the sub-query starts with, in their newest stored version; the values are not read. */
  readonly copies: readonly string[];
}

/** A query of a branch, with the number of its iterations that the branch contains. */
export interface QueryIterations {
  readonly queryId: string;
  readonly iterations: number;
}

export interface ImportReport {
  readonly conversationId: string;
  /** The new id of each id in the archive. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Texts and values by their hash; the source verifies the hash. */
export interface ContentSource {
  get(hash: string): Uint8Array<ArrayBuffer> | undefined;
  pieces(hash: string): Iterable<Uint8Array<ArrayBuffer>>;
}

/** The usage of all queries with one label. */
export interface LabelUse {
  readonly label: string;
  readonly queries: number;
  readonly costUsd: number;
}

export interface ConversationFilter {
  readonly limit: number;
  /** Limits the list to conversations of this channel. */
  readonly channel?: string | undefined;
  /** Limits the list to conversations of this workspace. */
  readonly workspace?: string | undefined;
  /** Limits the list to conversations after this place. */
  readonly after?: number | undefined;
}

export interface ConversationSummary {
  readonly queries: number;
  /** The start of the newest query, or else the time of creation. */
  readonly activeAt: number;
  /** Whether any process is running a query in it. */
  readonly running: boolean;
  /** The position in the list of all conversations. A conversation moves to the top when it is created or gets a
   * request. */
  readonly place: number;
}

/** Largest file of an exported conversation in bytes, for export and import: it must fit into memory as one text. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
