import type { PolicyReply } from "../../../src/providers/demo/policies/policy.ts";
import type { EvalContext } from "./eval_context.ts";

export interface EvalInput {
  readonly request: string;
  readonly context: EvalContext;
}

/** A policy of the evaluation: it sees what those of the demo see, and the rest of the context message. */
export interface EvalPolicy {
  readonly takes: RegExp;
  decide(turn: EvalInput): PolicyReply;
}
