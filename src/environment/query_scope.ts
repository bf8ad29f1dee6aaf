import type { Approval, ApprovalRequest } from "../domain/query/approval.ts";
import type { ChildOptions, ChildResult } from "../extension/spec.ts";
import type { HostCallEvent } from "../domain/calls/host_call.ts";
import type { AnswerType, Confidence } from "../domain/query/query_result.ts";

export interface SubcallOptions {
  /** A model's name, or "cost", "speed", "intelligence"; the query's own model if absent. */
  readonly model?: string;
  readonly signal: AbortSignal;
}

/** Model calls and child queries within a query. */
export interface SubcallFunctions {
  /** The text of one plain reply. */
  ask(prompt: string, options: SubcallOptions & { readonly system?: string }): Promise<string>;
  runChild(task: string, options: ChildOptions & SubcallOptions): Promise<ChildResult>;
}

/** What exists only while a query runs. The query engine attaches it to the environment and removes it afterwards. */
export interface QueryScope {
  readonly queryId: string;
  readonly signal: AbortSignal;
  /** Whether the query only makes a plan: calls that change something are refused. */
  readonly planning?: boolean;
  readonly budget: () => number;
  /** The model that serves the query; the default of the process if absent. */
  readonly root?: () => { readonly provider: string; readonly model: string };
  /** Extends the budget by `n` iterations, up to the operator's ceiling. */
  readonly requestMore: (n: number) => { readonly granted: number; readonly budget: number };
  /** Offers a final answer from a block; only the first one in an iteration counts. */
  readonly answer: (
    text: string,
    facts: {
      readonly type: AnswerType;
      readonly confidence: Confidence;
      readonly block: number;
      /** The value from which the text was created. */
      readonly value: unknown;
    },
  ) => void;
  /** Absent if no calls are allowed, in tests of other parts. */
  readonly subcalls?: SubcallFunctions;
  /** Asks the user for what an extension requests; absent like `subcalls`. */
  readonly approve?: (
    request: ApprovalRequest,
    from: { readonly extension: string; readonly signal: AbortSignal },
  ) => Promise<Approval>;
  readonly onCall: (call: HostCallEvent) => void;
  /** Called with the unified diff of each file that a call changed. */
  readonly onChange?: (diff: string) => void;
}
