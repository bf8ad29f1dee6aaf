import type { QueryReason } from "../domain/query/query_result.ts";
import type { Usage } from "../domain/query/usage.ts";

/** Limits of a query and everything below it; null for no limit. */
export interface QueryLimits {
  readonly costUsd: number | null;
  readonly tokens: number | null;
  readonly wallMs: number | null;
  /** Sub-calls and child queries. */
  readonly subcalls?: number | null;
  /** Whether the cost counts towards a quota, so that every call needs a known price even without a limit of its own. */
  readonly priced?: boolean;
}

/** Whether a model without a known price must not be called: its cost could not be counted. */
export function needsPrice({ costUsd, priced = false }: Pick<QueryLimits, "costUsd" | "priced">): boolean {
  return priced || costUsd !== null;
}

export type LimitReason = Extract<QueryReason, `limit_${string}`>;

/** The limit that prevents another model call, or null. */
export function limitReached(
  limits: QueryLimits,
  spent: { readonly usage: Usage; readonly costUsd: number; readonly ms: number },
): LimitReason | null {
  if (limits.wallMs !== null && spent.ms >= limits.wallMs) return "limit_time";
  if (limits.tokens !== null && spent.usage.input + spent.usage.output >= limits.tokens) return "limit_tokens";
  if (limits.costUsd !== null && spent.costUsd >= limits.costUsd) return "limit_cost";
  return null;
}
