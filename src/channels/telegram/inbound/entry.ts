import type { Incoming } from "./incoming.ts";

/** An accepted message that is not yet answered, with the progress of its answer. It is stored before each step that
 * must not be repeated. */
export interface PendingMessage {
  readonly message: Incoming;
  /** The branch that the query runs in, from its first attempt. */
  readonly branchId?: string;
  /** The chat's model at that time; null for the configured one. */
  readonly model?: string | null;
  /** Attempts at the query, including one about to begin. */
  readonly attempts?: number;
  readonly queryId?: string;
  /** The running query that this message became part of. */
  readonly steered?: string;
  /** Interrupted by the end of the program, not by the user. */
  readonly suspended?: boolean;
  /** Messages for the answer, in order. They are created first and filled later, so that none is sent twice. */
  readonly replies?: readonly number[];
  /** The progress message, if the answer is sent in new messages; null if the answer replaces it. Decided once, before
   * the answer is written. */
  readonly progress?: number | null;
  /** When its first message was created. */
  readonly startedAt?: number;
  /** A short reply is about to be sent: if its arrival is unknown, it is not sent again. */
  readonly replied?: boolean;
}
