import type { AnswerType, Confidence } from "../domain/query_result.ts";

/** What exists only while a query runs; the query engine hands it to the environment and takes it back. */
export interface QueryScope {
  readonly queryId: string;
  readonly signal: AbortSignal;
  readonly budget: () => number;
  /** Extends the budget by `n` iterations, up to the operator's ceiling. */
  readonly requestMore: (n: number) => { readonly granted: number; readonly budget: number };
  /** Offers a final answer out of a block; only the first of an iteration counts. */
  readonly answer: (
    text: string,
    facts: { readonly type: AnswerType; readonly confidence: Confidence; readonly block: number },
  ) => void;
  readonly onCall: (
    call: {
      readonly block: number;
      readonly name: string;
      readonly phase: "start" | "end";
      readonly ms?: number;
      readonly ok?: boolean;
    },
  ) => void;
}
