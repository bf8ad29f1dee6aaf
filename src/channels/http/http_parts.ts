import type { Conversation, Conversations } from "../../conversation/conversations.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import type { LabelUse } from "../../domain/records/conversations.ts";
import type { ExtensionAdmin } from "../../domain/admin_reports.ts";
import type { UndoReport } from "../../domain/undo.ts";
import type { Log } from "../../logging/log.ts";
import type { ProviderAdmin } from "../channel.ts";
import type { IdleLimits, Leaving, OwnConnections } from "./connections.ts";
import type { ListedModels } from "./listed_models.ts";
import type { TenantMetrics } from "./metrics.ts";
import type { AbandonedCalls, Idempotency } from "./repeated_requests.ts";
import type { Runs } from "./live_runs.ts";
import type { TokenGrant, TokenSource } from "./tokens.ts";

export interface SuggestionPlace {
  readonly workspace: string;
  readonly tenant: string;
}

/** The caller closes these parts, after the server. */
export interface HttpParts {
  readonly conversations: Conversations;
  readonly workspace: string;
  readonly workspaces?: readonly string[];
  readonly budget?: { readonly iterations: number; readonly costUsd: number | null; readonly wallMs: number | null };
  readonly provider: string;
  readonly model: string;
  readonly version: string;
  readonly admin: Pick<ProviderAdmin, "models">;
  readonly extensions: Pick<ExtensionAdmin, "list">;
  readonly suggestions: {
    files(workspace: string, letters: string): Promise<readonly string[]>;
    prompts(
      place: SuggestionPlace,
    ): Promise<readonly { readonly name: string; readonly detail: string; readonly text: string }[]>;
  };
  /** The function is undefined if the server may not change files. `changes` contains ids, separated by commas. */
  readonly undo?: (
    conversation: Conversation,
    options: {
      readonly dryRun?: boolean;
      readonly list?: boolean;
      readonly changes?: string;
      readonly redo?: boolean;
      readonly rest?: boolean;
      readonly cuts?: string;
    },
  ) => Promise<UndoReport | null>;
  readonly log: Log;
  readonly now: () => number;
  readonly within?: (
    request: Request,
    work: (routed: (route: string) => void) => Promise<Response>,
  ) => Promise<Response>;
  /** Resolves with the fault of each requirement, or "" if it works. Must not reject. The server checks the database
   * itself. */
  readonly ready?: () => Promise<Readonly<Record<string, string>>>;
  readonly tokens: TokenSource;
  readonly usedToday?: readonly LabelUse[];
  readonly hosts: readonly string[];
  readonly proxies: readonly string[];
  readonly limits: HttpLimits;
  readonly ownConnections?: OwnConnections | null;
  /** Each handler checks the credentials of its requests, and limits the bytes that it reads. */
  readonly hooks?: Readonly<Record<string, (request: Request) => Promise<Response>>>;
}

export interface HttpLimits {
  readonly bodyBytes: number;
  readonly idle: IdleLimits;
  readonly bodyMs: number;
  readonly headerBytes: number;
  /** If false, Vis refuses chunked bodies, because the runtime would hide a Content-Length beside Transfer-Encoding. */
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
    readonly sent: Promise<void>;
    readonly leaving: Leaving;
    readonly noticeLeft: () => Promise<void>;
  };
  Variables: {
    requestId: string;
    address: string;
    caller: TokenGrant;
    /** Metrics show `route` instead of a path that the operator chose. */
    route?: string;
    bodyText: string;
    conversation: Conversation;
    query: StoredQuery;
  };
}
