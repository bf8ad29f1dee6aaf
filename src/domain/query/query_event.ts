import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import type { BlockResult } from "./block_result.ts";
import type { HostCallEvent } from "../calls/host_call.ts";
import type { QueryResult } from "./query_result.ts";
import type { Usage } from "./usage.ts";

const OUTCOMES = ["executed", "empty", "failed", "refused", "final"] as const;
export type IterationOutcome = typeof OUTCOMES[number];

/** The outcome in the row of an iteration, or null. */
export function outcomeOf({ outcome }: Readonly<Record<string, unknown>>): IterationOutcome | null {
  return OUTCOMES.find((one) => one === outcome) ?? null;
}

/** What happened, without the envelope that `Emitter` adds. Exactly one of the last three ends a query. */
export type QueryEventBody =
  | { readonly type: "started"; readonly conversationId: string; readonly request: string; readonly model: string }
  | {
    /** Before everything else of an iteration. A stream that is rebuilt from stored iterations has none. */
    readonly type: "iteration_started";
    /** How many iterations count against the budget, this one included; never more than `budget`. */
    readonly used: number;
    readonly budget: number;
  }
  /** A message that the user sent while the query ran: the call of this iteration shows it to the model. */
  | { readonly type: "steered"; readonly text: string }
  | { readonly type: "thinking"; readonly delta: string }
  | { readonly type: "code"; readonly block: number; readonly delta: string }
  | { readonly type: "block_started"; readonly block: number; readonly code: string }
  | { readonly type: "block_finished"; readonly block: number; readonly result: BlockResult }
  | { readonly type: "host_call" } & HostCallEvent
  /** A call waits for the user's answer; `approval_answered` with the same id follows unless the query ends first. */
  | { readonly type: "approval_requested" } & ApprovalQuestion
  | { readonly type: "approval_answered"; readonly id: string } & ApprovalAnswer
  | { readonly type: "nudge"; readonly lines: readonly string[] }
  | {
    /** The model could not be reached or its reply broke off. None of it was shown; the call is retried. */
    readonly type: "retrying";
    readonly reason: string;
    readonly waitMs: number;
    /** The number of the next attempt, 1-based. */
    readonly attempt: number;
  }
  | {
    /** The model has not begun to reply. Sent after 15 s, and each time when the wait has doubled. */
    readonly type: "waiting";
    readonly model: string;
    readonly waitedMs: number;
    /** When the call is given up. */
    readonly limitMs: number;
  }
  | { readonly type: "usage"; readonly usage: Usage }
  | {
    readonly type: "iteration_finished";
    readonly outcome: IterationOutcome;
    readonly reason: string | null;
    readonly ms: number;
  }
  /** Only for the answer that counts: a refused one is not sent. */
  | { readonly type: "answer_delta"; readonly delta: string }
  | { readonly type: "final" | "failed" | "cancelled"; readonly result: QueryResult };

/** One event of a query, the same for every channel; `--output jsonl` and SSE carry it unchanged. */
export type QueryEvent = QueryEventBody & {
  /** 1-based and without gaps within a query. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly queryId: string;
  /** For a child query: the query whose block started it. Its events are interleaved with the parent's. */
  readonly parentQueryId?: string;
  /** 1-based; null outside an iteration. */
  readonly iteration: number | null;
};

/** Whether it belongs to a child query, whose events are interleaved with the parent's. */
export function isChild({ parentQueryId }: QueryEvent): boolean {
  return parentQueryId !== undefined;
}

/** Whether its query has ended. */
export function isEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return event.type === "final" || event.type === "failed" || event.type === "cancelled";
}

/** Whether a query has ended that is no child of another. */
export function isOwnEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return isEnd(event) && !isChild(event);
}

/** Never throws to the engine; a channel that fails misses only its own events. `number` is the place of an event among
 * those of its query on all nodes; omitted where one process has all of them. */
export type Emit = (event: QueryEvent, number?: number) => void;
