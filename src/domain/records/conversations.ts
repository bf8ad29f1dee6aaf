import type { VariableImage } from "../query/variable.ts";

export interface ExternalChat {
  readonly channel: string;
  readonly externalId: string;
}

export interface NewConversation {
  readonly title: string;
  /** If true, the title is a placeholder, which the title of the first request replaces. */
  readonly untitled?: boolean;
  readonly channel: string;
  readonly workspace: string;
  readonly externalId?: string;
}

export interface BranchPoint {
  readonly queryId: string;
  /** `position` is the last included iteration (0-based). Null includes all iterations, and -1 includes none. */
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
  readonly activeAt: number;
  readonly running: boolean;
  readonly asks: boolean;
  readonly place: number;
}

export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
