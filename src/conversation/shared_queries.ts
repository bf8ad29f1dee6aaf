import type { ApprovalAnswer, ApprovalQuestion } from "../domain/query/approval.ts";
import type { QueryEvent, QueryResult } from "../domain/query/query_schemas.ts";
import type { InputVariable } from "../environment/input_variables.ts";
import type { Branch } from "../persistence/store.ts";
import type { RunnerOptions } from "./query_runner.ts";
import type { AskOptions } from "./send_options.ts";

/** A query that a node has accepted, wherever it runs. */
export interface SharedRun {
  readonly branchId: string;
  /** Numbers of the oldest and the newest event that are kept; `oldest` is larger if there are none. */
  readonly oldest: number;
  readonly newest: number;
  readonly running: boolean;
  /** The events after a number until the end, as soon as each happens. */
  events(after: number): AsyncGenerator<{ readonly number: number; readonly event: QueryEvent }>;
}

/** What a request brings, as another node needs it. */
export interface SharedRequest extends Pick<RunnerOptions, "retryOf"> {
  readonly read: readonly InputVariable[];
}

/** The queries of a database that several nodes share. Every node accepts requests, runs some, and follows any. */
export interface SharedQueries {
  /** Like `Conversations.ask`, for a request that is valid. */
  ask(branch: Branch, request: string, options: AskOptions & SharedRequest): Promise<QueryResult>;
  /** Like `Conversations.steer`. */
  steer(branchId: string, text: string, signal?: AbortSignal): Promise<boolean>;
  /** Cancels what runs or waits in a conversation. Returns how many queries. */
  cancel(conversationId: string): Promise<number>;
  /** The questions of a conversation that wait for an answer. */
  questions(conversationId: string): Promise<readonly ApprovalQuestion[]>;
  /** False if no such question waits. */
  answer(conversationId: string, questionId: string, answer: ApprovalAnswer): Promise<boolean>;
  /** Whether anything runs or waits in a conversation. */
  isBusy(conversationId: string): Promise<boolean>;
  /** Null for a query that has ended and whose events are no longer kept. The signal ends them. */
  follow(queryId: string, signal: AbortSignal): Promise<SharedRun | null>;
  /** The requests that wait, and how often this node took over a query of a lost one. */
  load(): Promise<{ readonly depth: number; readonly oldestMs: number; readonly takeovers: number }>;
  /** Takes nothing more and leaves what runs here to other nodes: each query before its next iteration, or at once when
   * the time is up. `ask` goes on waiting; an abort of its signal then ends only the wait. */
  drain(graceMs: number): Promise<void>;
}
