import type { Usage } from "./query_schemas.ts";

/** One attempt at a model call, failed ones included. */
export interface ModelTrace {
  readonly provider: string;
  readonly model: string;
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly usage: Usage | null;
  readonly ms: number;
  /** What had to be repaired to read the reply. Filled in by the reply's reader. */
  readonly repairs: readonly string[];
}

/** A plain model call that a block made. */
export interface SubCall {
  readonly iterationId: string;
  readonly provider: string;
  readonly model: string;
  readonly prompt: string;
  /** Null if the call failed. */
  readonly reply: string | null;
  readonly error: string | null;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly ms: number;
}

/** A message as it was sent to a model. */
export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
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
