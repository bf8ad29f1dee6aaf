import type { QueryReason } from "../domain/query/query_result.ts";
import type { Usage } from "../domain/query/usage.ts";

/** Limits of a query and everything below it; null for no limit. */
export interface QueryLimits {
  readonly costUsd: number | null;
  readonly tokens: number | null;
  readonly wallMs: number | null;
  /** Sub-calls and child queries. */
  readonly subcalls?: number | null;
}

export type LimitReason = Extract<QueryReason, `limit_${string}`>;

/** The limit that prevents another model call, or null. */
export function limitReached(
  limits: QueryLimits,
  spent: { readonly usage: Usage; readonly costUsd: number | null; readonly ms: number },
): LimitReason | null {
  if (limits.wallMs !== null && spent.ms >= limits.wallMs) return "limit_time";
  if (limits.tokens !== null && spent.usage.input + spent.usage.output >= limits.tokens) return "limit_tokens";
  if (limits.costUsd !== null && spent.costUsd !== null && spent.costUsd >= limits.costUsd) return "limit_cost";
  return null;
}
