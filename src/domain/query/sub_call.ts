import type { Usage } from "./usage.ts";

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
