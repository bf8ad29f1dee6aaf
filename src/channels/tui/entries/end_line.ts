import type { QueryResult } from "../../../domain/query/query_result.ts";
import { formatDollars } from "../text/dollars.ts";
import { tokens } from "../text/tokens.ts";

type Facts = Pick<QueryResult, "status" | "reason" | "iterations" | "ms" | "usage" | "costUsd" | "confidence">;

/** How a query ended, in one line. */
export function endLine({ status, reason, iterations, ms, usage, costUsd, confidence }: Facts): string {
  const seconds = ms / 1_000;
  return [
    ...(status === "error" ? [reason.replaceAll("_", " ")] : []),
    `${iterations} ${iterations === 1 ? "iteration" : "iterations"}`,
    seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} m ${Math.round(seconds % 60)} s`,
    ...(usage.input + usage.output > 0 ? [`↑${tokens(usage.input)} ↓${tokens(usage.output)}`] : []),
    ...(costUsd === null || costUsd === 0 ? [] : [formatDollars(costUsd)]),
    ...(status === "done" && confidence !== "high" ? [`${confidence} confidence`] : []),
  ].join(" · ");
}
