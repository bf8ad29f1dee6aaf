import type { ReadContext } from "./read_context.ts";

/** The input of a policy: the user's request and the context message, nothing else. A policy keeps no state, so a wrong
 * journal, index or handover makes it fail. */
export interface PolicyInput {
  readonly request: string;
  readonly context: ReadContext;
}

export interface PolicyReply {
  readonly thinking: string;
  readonly code?: readonly string[];
  readonly final?: string;
  readonly answerType?: "text" | "markdown";
}

/** A fixed way to work on one kind of request. */
export interface Policy {
  /** An example request. */
  readonly example: string;
  readonly takes: RegExp;
  /** Throws `ProviderError` if the context lacks what it needs. */
  decide(turn: PolicyInput): PolicyReply;
}
