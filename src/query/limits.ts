import type { QueryReason } from "../domain/query_result.ts";
import type { Usage } from "../domain/usage.ts";

export interface QueryLimits {
  readonly costUsd: number | null;
  readonly tokens: number | null;
  readonly wallMs: number | null;
}

/** The limit that stands in the way of another model call, or null. */
export function limitReached(
  limits: QueryLimits,
  spent: { readonly usage: Usage; readonly costUsd: number | null; readonly ms: number },
): Extract<QueryReason, `limit_${string}`> | null {
  if (limits.wallMs !== null && spent.ms >= limits.wallMs) return "limit_time";
  if (limits.tokens !== null && spent.usage.input + spent.usage.output >= limits.tokens) return "limit_tokens";
  if (limits.costUsd !== null && spent.costUsd !== null && spent.costUsd >= limits.costUsd) return "limit_cost";
  return null;
}
