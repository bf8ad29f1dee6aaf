import type { Conversation, Conversations } from "../../conversation/conversations.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import type { LabelUse } from "../../domain/records/conversations.ts";
import type { ExtensionAdmin } from "../../domain/reports.ts";
import type { UndoReport } from "../../domain/undo.ts";
import type { Log } from "../../logging/log.ts";
import type { ProviderAdmin } from "../channel.ts";
import type { IdleLimits, Leaving, OwnConnections } from "./connections.ts";
import type { ListedModels } from "./listed_models.ts";
import type { TenantMetrics } from "./metrics.ts";
import type { AbandonedCalls, Idempotency } from "./repeated_requests.ts";
import type { Runs } from "./runs.ts";
import type { TokenGrant, TokenSource } from "./tokens.ts";

/** Dependencies of the HTTP channel. The caller that provides the dependencies closes them, after the server. */
export interface HttpParts {
  readonly conversations: Conversations;
  /** The real path of the workspace. New conversations belong to this workspace unless they name another one. */
  readonly workspace: string;
  readonly workspaces?: readonly string[];
  readonly budget?: { readonly iterations: number; readonly costUsd: number | null; readonly wallMs: number | null };
  readonly provider: string;
  readonly model: string;
  readonly version: string;
  readonly admin: Pick<ProviderAdmin, "models">;
  readonly extensions: Pick<ExtensionAdmin, "list">;
  readonly suggestions: {
    /** Returns at most 50 paths that contain the letters, best first. */
    files(workspace: string, letters: string): Promise<readonly string[]>;
    /** Lists the user's own prompts: the words after the name replace `$ARGUMENTS` in a text. */
    prompts(
      workspace: string,
    ): Promise<readonly { readonly name: string; readonly detail: string; readonly text: string }[]>;
  };
  /** Undoes file changes of a conversation, or reapplies the last undo. `changes` has the ids of changes, separated by
   * commas. Absent if the server may not change files. */
  readonly undo?: (
    conversation: Conversation,
    options: {
      readonly dryRun?: boolean;
      readonly changes?: string;
      readonly redo?: boolean;
      readonly cuts?: string;
    },
  ) => Promise<UndoReport | null>;
  readonly log: Log;
  readonly now: () => number;
  readonly within?: (
    request: Request,
    work: (routed: (route: string) => void) => Promise<Response>,
  ) => Promise<Response>;
  /** Checks the requirements of a query besides the database: maps each name to its fault, or to "". Never rejects. */
  readonly ready?: () => Promise<Readonly<Record<string, string>>>;
  /** Every request that reaches a conversation must carry one of these tokens. */
  readonly tokens: TokenSource;
  /** Today's usage (UTC) before this process started. */
  readonly usedToday?: readonly LabelUse[];
  /** The names, besides its address, under which clients can reach the server. */
  readonly hosts: readonly string[];
  /** Addresses and networks of reverse proxies whose X-Forwarded-For is trusted. */
  readonly proxies: readonly string[];
  readonly limits: HttpLimits;
  readonly ownConnections?: OwnConnections | null;
  /** Paths whose POST requests other code handles. The requests carry their own credentials, so they need no token. The
   * handler limits the bytes that it reads. */
  readonly hooks?: Readonly<Record<string, (request: Request) => Promise<Response>>>;
}

export interface HttpLimits {
  readonly bodyBytes: number;
  readonly idle: IdleLimits;
  readonly bodyMs: number;
  readonly headerBytes: number;
  /** Whether chunked bodies are read; false if the runtime hides a Content-Length after the coding. */
  readonly chunked: boolean;
  readonly urlBytes: number;
  readonly shutdownMs: number;
  readonly heartbeatMs: number;
  readonly lookMs: number;
  readonly useMs: number;
  readonly perToken: Rate;
  readonly perAddress: Rate;
  readonly wrongTokens: Rate;
}

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export interface Env {
  Bindings: {
    readonly parts: HttpParts;
    readonly runs: Runs;
    readonly metrics: TenantMetrics;
    readonly once: Idempotency;
    readonly abandoned: AbandonedCalls;
    readonly models: ListedModels;
    readonly remote: string;
    readonly routed: (route: string) => void;
    /** Resolves when the response is sent or the client is gone. */
    readonly sent: Promise<void>;
    readonly leaving: Leaving;
    /** Reports the clients that have already left, without waiting for the next regular search. */
    readonly noticeLeft: () => Promise<void>;
  };
  Variables: {
    requestId: string;
    address: string;
    caller: TokenGrant;
    /** Replaces the path in metrics and traces if the path itself must not appear there. */
    route?: string;
    bodyText: string;
    conversation: Conversation;
    query: StoredQuery;
  };
}
