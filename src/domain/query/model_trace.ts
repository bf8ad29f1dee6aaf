import type { Usage } from "./usage.ts";

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
