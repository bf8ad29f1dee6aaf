import type { ArchivePart, ConversationArchive } from "./conversation_archive.ts";

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
