import type { BlockResult } from "../../domain/block_result.ts";
import type { IterationOutcome } from "../../domain/query_event.ts";

export interface StepBlock {
  code: string;
  /** What it calls of an extension just now, "" where nothing. */
  calling: string;
  /** Changes of files as unified diffs. */
  readonly diffs: string[];
  /** Null while it has not ended. */
  result: BlockResult | null;
}

/** A query that a block asked. */
export interface StepChild {
  readonly queryId: string;
  readonly task: string;
  iteration: number;
  /** Null while it runs. */
  done: { readonly ok: boolean; readonly text: string } | null;
}

/** One iteration as it is shown, filled while it runs or from its row. */
export interface Step {
  readonly number: number;
  thinking: string;
  readonly blocks: StepBlock[];
  readonly children: StepChild[];
  /** Null while it runs. */
  outcome: IterationOutcome | null;
  reason: string | null;
  ms: number;
}

export function newStep(number: number): Step {
  return { number, thinking: "", blocks: [], children: [], outcome: null, reason: null, ms: 0 };
}
