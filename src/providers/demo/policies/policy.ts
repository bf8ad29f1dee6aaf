import type { ReadContext } from "./read_context.ts";

/** What a policy decides from: the user's request and the context message, nothing else. It keeps no state, so a
 * journal, an index or a handover that is wrong makes it fail. */
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
  /** What it can be asked, as an example. */
  readonly example: string;
  readonly takes: RegExp;
  /** Throws `ProviderError` where the context does not show what it must. */
  decide(turn: PolicyInput): PolicyReply;
}
