import type { z } from "zod";
import type { Frozen } from "../reports/frozen.ts";
import type { UsageSchema } from "./query_schemas.ts";

/** Tokens of one or more model calls. */
export type Usage = Frozen<z.infer<typeof UsageSchema>>;

export const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, reasoning: 0, calls: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const cacheWrite = (a.cacheWrite ?? 0) + (b.cacheWrite ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
    reasoning: a.reasoning + b.reasoning,
    calls: a.calls + b.calls,
  };
}
