import type { VariableImage } from "../query/variable.ts";

export interface ExternalChat {
  readonly channel: string;
  readonly externalId: string;
}

export interface NewConversation {
  readonly title: string;
  /** The title is a placeholder until the first request provides a title. */
  readonly untitled?: boolean;
  readonly channel: string;
  readonly workspace: string;
  readonly externalId?: string;
}

export interface BranchPoint {
  readonly queryId: string;
  /** The last included iteration (0-based); null for all iterations, -1 for the state before the query. */
  readonly position: number | null;
}

export interface NewFork extends BranchPoint {
  readonly title?: string;
}

export interface NewChildBranch {
  readonly branchId: string;
  readonly iterationId: string;
  readonly depth: number;
  readonly title: string;
  readonly images: readonly VariableImage[];
  /** Names of variables; the branch uses the newest stored version of each variable without reading its value. */
  readonly copies: readonly string[];
}

export interface QueryIterations {
  readonly queryId: string;
  readonly iterations: number;
}

export interface ImportReport {
  readonly conversationId: string;
  readonly ids: ReadonlyMap<string, string>;
}

export interface ContentSource {
  get(hash: string): Uint8Array<ArrayBuffer> | undefined;
  pieces(hash: string): Iterable<Uint8Array<ArrayBuffer>>;
}

export interface LabelUse {
  readonly label: string;
  readonly queries: number;
  readonly costUsd: number;
}

export interface ConversationFilter {
  readonly limit: number;
  readonly channel?: string | undefined;
  readonly workspace?: string | undefined;
  readonly after?: number | undefined;
}

export interface ConversationSummary {
  readonly queries: number;
  /** The start of the newest run in any branch, or the creation of a newer branch. */
  readonly activeAt: number;
  readonly running: boolean;
  /** The position in the list of all conversations. A conversation moves to the top when it is created, gets a request,
   * a retry or a fork. */
  readonly place: number;
}

/** Limit of the file of an exported conversation, because the file must fit into memory as one text. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
