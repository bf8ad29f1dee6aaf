import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import { amounts } from "../text/amounts.ts";

type Facts = Pick<QueryResult, "status" | "iterations" | "ms" | "usage" | "costUsd" | "confidence">;

/** How a query ended, in one line. */
export function endLine({ status, iterations, ms, usage, costUsd, confidence }: Facts): string {
  const seconds = ms / 1_000;
  const called = usage.input + usage.output > 0;
  return [
    `${iterations} ${iterations === 1 ? "step" : "steps"}`,
    seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} m ${Math.round(seconds % 60)} s`,
    ...(called ? [`↑${amounts.tokens(usage.input)} ↓${amounts.tokens(usage.output)}`] : []),
    ...(costUsd === null && called ? ["price unknown"] : []),
    ...(costUsd === null || costUsd === 0 ? [] : [amounts.dollars(costUsd)]),
    ...(status === "done" && confidence !== "high" ? [`${confidence} confidence`] : []),
  ].join(" · ");
}
