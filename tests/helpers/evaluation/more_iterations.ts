import type { EvalInput } from "./eval_policy.ts";

export function moreIterations({ iteration, budget, nudges }: EvalInput["context"], needed: number): string[] {
  const short = nudges.some((line) => line.includes("requestMoreIterations")) || budget - iteration < 2;
  const missing = needed + 1 - (budget - iteration);
  return short && missing > 0 ? [`await requestMoreIterations(${missing})`] : [];
}
