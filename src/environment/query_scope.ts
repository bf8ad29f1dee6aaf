import type { ChildOptions, ChildResult } from "../extension/spec.ts";
import type { HostCallEvent } from "../domain/query/host_call.ts";
import type { AnswerType, Confidence } from "../domain/query/query_result.ts";

export interface SubcallOptions {
  /** A model's name, or "cost", "speed", "intelligence"; the query's own where absent. */
  readonly model?: string;
  readonly signal: AbortSignal;
}

/** Model calls and queries inside a query. */
export interface SubcallFunctions {
  /** The text of one plain reply. */
  ask(prompt: string, options: SubcallOptions & { readonly system?: string }): Promise<string>;
  runChild(task: string, options: ChildOptions & SubcallOptions): Promise<ChildResult>;
}

/** What exists only while a query runs; the query engine hands it to the environment and takes it back. */
export interface QueryScope {
  readonly queryId: string;
  readonly signal: AbortSignal;
  readonly budget: () => number;
  /** The model that serves it; that of the process where absent. */
  readonly root?: () => { readonly provider: string; readonly model: string };
  /** Extends the budget by `n` iterations, up to the operator's ceiling. */
  readonly requestMore: (n: number) => { readonly granted: number; readonly budget: number };
  /** Offers a final answer out of a block; only the first of an iteration counts. */
  readonly answer: (
    text: string,
    facts: {
      readonly type: AnswerType;
      readonly confidence: Confidence;
      readonly block: number;
      /** What the text was made of. */
      readonly value: unknown;
    },
  ) => void;
  /** Absent where nothing may be called, in tests of other parts. */
  readonly subcalls?: SubcallFunctions;
  readonly onCall: (call: HostCallEvent) => void;
}
