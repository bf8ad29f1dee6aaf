import type { VariableImage } from "../query/variable.ts";
import type { ArchivePart, ConversationArchive } from "./conversation_archive.ts";

/** A chat outside Vis, identified by its id within its channel. */
export interface ExternalChat {
  readonly channel: string;
  readonly externalId: string;
}

/** What is known about a conversation when it is created. */
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

/** Where a new branch forks from another one. */
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

/** Operations on whole conversations; part of the store. */
export interface ConversationMaintenance {
  /** Sets the user's title, which only the user can replace. */
  setTitle(branchId: string, title: string): Promise<void>;
  /** Deletes the conversation. Rejects with `BusyError` while a query runs in it. Texts and values that nothing refers
   * to any more are removed directly afterwards; `close` waits for that. */
  deleteConversation(conversationId: string): Promise<void>;
  /** The run of a user's query that is running in it, in any process; null if there is none. */
  runningQuery(conversationId: string): Promise<string | null>;
  /** The run of the query whose id starts with this prefix; null if there is none, or more than one. */
  findQuery(prefix: string): Promise<string | null>;
  /** Usage by queries that have a label and started since then, without child queries. */
  labelUse(since: number): Promise<readonly LabelUse[]>;
  /** Like `Store.queries`, but without reading them. */
  turns(branchId: string): Promise<readonly QueryIterations[]>;
  /** Gives `take` everything that is stored about it, as one snapshot. A running query is exported as interrupted.
   * Damage may be found after some parts were given. */
  exportConversation(conversationId: string, take: (part: ArchivePart) => Promise<void>): Promise<void>;
  /** Stores a whole archive under new ids, or nothing. The file is not trusted about what may be accessed here: its
   * conversation belongs to this workspace and to no chat. Rejects with `UsageError` if rows contradict each other. */
  importConversation(
    archive: ConversationArchive,
    options: {
      readonly workspace: string;
      /** The contents, if those of the archive are not in memory. */
      readonly contents?: ContentSource;
    },
  ): Promise<ImportReport>;
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
  /** Only those of this channel. */
  readonly channel?: string | undefined;
  /** Only those of this workspace. */
  readonly workspace?: string | undefined;
  /** Only those after this place. */
  readonly after?: number | undefined;
}

export interface ConversationSummary {
  readonly queries: number;
  /** When its newest query started, or else when it was created. */
  readonly activeAt: number;
  /** Whether a query is running in it, in any process. */
  readonly running: boolean;
  /** Its position in the list of all conversations. A conversation moves to the top when it is created or gets a
   * request. */
  readonly place: number;
}

/** Largest file of an exported conversation in bytes, for export and import: it must fit into memory as one text. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
