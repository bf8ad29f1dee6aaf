import type { EvalInput } from "./eval_policy.ts";

/** Requests the missing iterations when a nudge or the header reports that the budget ends before the work does. */
export function moreIterations({ iteration, budget, nudges }: EvalInput["context"], needed: number): string[] {
  const short = nudges.some((line) => line.includes("requestMoreIterations")) || budget - iteration < 2;
  const missing = needed + 1 - (budget - iteration);
  return short && missing > 0 ? [`await requestMoreIterations(${missing})`] : [];
}
