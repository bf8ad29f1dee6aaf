import type { QueryResult } from "../../../domain/query/query_result.ts";

/** What a query took, on one line. */
export function footer(
  { iterations, ms, usage, costUsd }: Pick<QueryResult, "iterations" | "ms" | "usage" | "costUsd">,
  model: string,
): string {
  return [
    `${iterations} iteration${iterations === 1 ? "" : "s"}`,
    `${(ms / 1000).toFixed(1)} s`,
    model,
    `${tokens(usage.input)} → ${tokens(usage.output)} tokens`,
    ...(costUsd === null ? [] : [`$${costUsd.toFixed(4)}`]),
  ].join(" · ");
}

function tokens(count: number): string {
  return count < 10_000 ? `${count}` : `${(count / 1000).toFixed(1)}k`;
}
