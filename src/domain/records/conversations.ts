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
  /** Real path. */
  readonly workspace: string;
  /** The id of its chat, if its channel has chats. */
  readonly externalId?: string;
}

/** A point in the history of a branch. */
export interface BranchPoint {
  /** The run of a query (`query_state.id`) in the branch. */
  readonly queryId: string;
  /** The last iteration (0-based) that is included; null for all of them, -1 for the state before the query. */
  readonly position: number | null;
}

/** A new branch forks from another one at this point. */
export interface NewFork extends BranchPoint {
  /** The original branch's title if absent. */
  readonly title?: string;
}

/** A branch below a conversation in which one child query runs. */
export interface NewChildBranch {
  /** The parent's branch. */
  readonly branchId: string;
  /** The iteration of the parent that started it. */
  readonly iterationId: string;
  /** 1 for a child of a user's query. */
  readonly depth: number;
  readonly title: string;
  /** Variables that the child starts with. */
  readonly images: readonly VariableImage[];
  /** Names whose newest stored value it starts with; the values are not read. */
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

/** Texts and values by their hash, which was compared. */
export interface ContentSource {
  get(hash: string): Uint8Array<ArrayBuffer> | undefined;
  pieces(hash: string): Iterable<Uint8Array<ArrayBuffer>>;
}

/** Usage by the queries of one label. */
export interface LabelUse {
  readonly label: string;
  readonly queries: number;
  readonly costUsd: number;
}

export interface ConversationFilter {
  readonly limit: number;
  /** The list has only conversations of this channel. */
  readonly channel?: string | undefined;
  /** The list has only conversations of this workspace. */
  readonly workspace?: string | undefined;
  /** The list has only conversations after this place. */
  readonly after?: number | undefined;
}

export interface ConversationSummary {
  readonly queries: number;
  /** When its newest query started, or else when it was created. */
  readonly activeAt: number;
  /** Whether a query is running in it, in any process. */
  readonly running: boolean;
  /** The list of all conversations is ordered by this. A conversation moves to the top when it is created or gets a
   * request. */
  readonly place: number;
}

/** Largest file of an exported conversation in bytes, for export and import: it must fit into memory as one text. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
