import { planInstructions, type QuerySettings } from "../query/query_parts.ts";
import type { AskOptions } from "./send_options.ts";

/** The settings of one request: the configured ones, changed by what it brings. */
export function requestSettings(
  configured: QuerySettings,
  { maxIterations, limits, plan = false, instructions }: Pick<
    AskOptions,
    "maxIterations" | "limits" | "plan" | "instructions"
  >,
): QuerySettings {
  const given = instructions || configured.instructions;
  return {
    ...configured,
    ...(maxIterations && { budget: maxIterations }),
    limits: {
      ...configured.limits,
      costUsd: lower(configured.limits.costUsd, limits?.costUsd),
      wallMs: lower(configured.limits.wallMs, limits?.wallMs),
      priced: limits?.priced ?? false,
    },
    instructions: plan ? planInstructions(given) : given,
  };
}

function lower(configured: number | null, wanted: number | null = null): number | null {
  return configured === null || wanted === null ? configured ?? wanted : Math.min(configured, wanted);
}
