import type { Conversation } from "../../../conversation/conversations.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { TokenGrant } from "../auth/token_grant.ts";
import type { TenantMetrics } from "../metrics/tenant_metrics.ts";
import type { Leaving } from "../routing/connections.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import type { Runs } from "../stream/runs.ts";
import type { AbandonedCalls } from "./abandoned_calls.ts";
import type { Idempotency } from "./idempotency.ts";
import type { ListedModels } from "./listed_models.ts";

/** The environment of every Hono app here. */
export interface Env {
  Bindings: {
    readonly parts: HttpParts;
    readonly runs: Runs;
    readonly metrics: TenantMetrics;
    readonly once: Idempotency;
    readonly abandoned: AbandonedCalls;
    readonly models: ListedModels;
    /** The peer's address. */
    readonly remote: string;
    /** Receives the route of the request. */
    readonly routed: (route: string) => void;
    /** Resolves when the response is sent, or its client gone. */
    readonly sent: Promise<void>;
    /** Reports a client that leaves before the response. */
    readonly leaving: Leaving;
    /** Reports the clients that have left by now, without waiting for the next regular look. */
    readonly noticeLeft: () => Promise<void>;
  };
  Variables: {
    requestId: string;
    /** The client's address, as known proxies report it. */
    address: string;
    /** The token of the request, after `authenticated`. */
    caller: TokenGrant;
    /** Stands for the path in metrics and traces, if the path itself must not be named. */
    route?: string;
    /** The text that the JSON body was parsed from. */
    bodyText: string;
    /** After `inConversation` and `inQuery`. */
    conversation: Conversation;
    query: StoredQuery;
  };
}
