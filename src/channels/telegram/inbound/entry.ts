import type { Incoming } from "./incoming.ts";

/** A message that was accepted and is not yet answered, with how far its answer has come. It is stored before each step
 * that must not be done twice. */
export interface PendingMessage {
  readonly message: Incoming;
  /** The branch that the query runs in, from its first attempt on. */
  readonly branchId?: string;
  /** Model of this chat then, null for the configured one. */
  readonly model?: string | null;
  /** Times the query was begun or is about to be. */
  readonly attempts?: number;
  readonly queryId?: string;
  /** The running query that it became a part of. */
  readonly steered?: string;
  /** It was cut off by the end of the program, not by the user. */
  readonly suspended?: boolean;
  /** Messages that hold the answer, in order: they are made first and filled then, so that none is sent twice. */
  readonly replies?: readonly number[];
  /** The message that showed how far it was, where the answer comes in new ones; null where the answer takes its place.
   * Chosen once, before the answer is written. */
  readonly progress?: number | null;
  /** When its first message was made. */
  readonly startedAt?: number;
  /** A short reply is about to be sent: where it is not known to have arrived, it is not sent again. */
  readonly replied?: boolean;
}
