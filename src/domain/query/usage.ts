/** Tokens of one or more model calls, as counted by the provider; null if it did not report them. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** The part of `input` that was read from a prefix cache. */
  readonly cached: number;
  /** The part of `input` that was written to the cache, if the provider counts and charges that separately. */
  readonly cacheWrite?: number;
  /** The part of `output` that was native reasoning. */
  readonly reasoning: number;
  readonly calls: number;
}

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
