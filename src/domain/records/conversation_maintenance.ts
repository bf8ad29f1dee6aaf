import type { ConversationArchive } from "./conversation_archive.ts";

/** A query of a branch, with how many iterations the branch shows of it. */
export interface QueryIterations {
  readonly queryId: string;
  readonly iterations: number;
}

export interface ImportReport {
  readonly conversationId: string;
  /** The new id of each id in the archive. */
  readonly ids: ReadonlyMap<string, string>;
}

/** What is done to whole conversations: a part of the store. */
export interface ConversationMaintenance {
  /** The user's choice: nothing changes it but another one. */
  setTitle(branchId: string, title: string): Promise<void>;
  /** A title that nobody chose; nothing happens where the user has chosen one or the present one is not `instead`. */
  suggestTitle(branchId: string, suggestion: { readonly title: string; readonly instead: string }): Promise<boolean>;
  /** All of it. Rejects with `BusyError` while a query runs in it. Texts and values that nothing refers to any more stay
   * in the database until it is pruned. */
  deleteConversation(conversationId: string): Promise<void>;
  /** The run of a query of a user that runs in it, in whatever process; null where none does. */
  runningQuery(conversationId: string): Promise<string | null>;
  /** The run of a query whose id begins so; null where none does, or several do. */
  findQuery(prefix: string): Promise<string | null>;
  /** Of queries that began since then with a label, child queries left out. */
  labelUse(since: number): Promise<readonly LabelUse[]>;
  /** As `Store.queries`, without reading them. */
  turns(branchId: string): Promise<readonly QueryIterations[]>;
  /** Everything that is stored about it, at one moment. What runs is in it as interrupted. Rejects with `UsageError`
   * where that is more than one file can hold. */
  exportConversation(conversationId: string): Promise<ConversationArchive>;
  /** Stores all of an archive under new ids, or nothing. The file is believed in nothing that says what may be reached
   * here: its conversation belongs to this workspace and to no chat. Rejects with `UsageError` for rows that contradict
   * each other. */
  importConversation(archive: ConversationArchive, options: { readonly workspace: string }): Promise<ImportReport>;
}

/** What queries of one label came to. */
export interface LabelUse {
  readonly label: string;
  readonly queries: number;
  readonly costUsd: number;
}

export interface ConversationFilter {
  readonly limit: number;
  /** Those of this channel only. */
  readonly channel?: string | undefined;
  /** Those that stand behind this place. */
  readonly after?: number | undefined;
}

export interface ConversationSummary {
  readonly queries: number;
  /** When its newest query began, or it was made. */
  readonly activeAt: number;
  /** Whether a query runs in it, in whatever process. */
  readonly running: boolean;
  /** In the list of all conversations. A conversation that is made or asked has the first one from then on. */
  readonly place: number;
}
