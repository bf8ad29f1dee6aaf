import { ProviderError } from "../../../src/domain/errors.ts";
import type { EvalContext } from "./eval_context.ts";
import type { JournalRow, ReadContext } from "./read_context.ts";

/** A policy keeps no state and sees only this input, so a wrong journal, index or handover makes the policy fail. */
export interface EvalInput {
  readonly request: string;
  readonly context: EvalContext;
}

export interface PolicyReply {
  readonly thinking: string;
  readonly code?: readonly string[];
  readonly final?: string;
  readonly answerType?: "text" | "markdown";
}

export interface EvalPolicy {
  readonly takes: RegExp;
  decide(turn: EvalInput): PolicyReply;
}

export function replyText({ thinking, code = [], final, answerType = "text" }: PolicyReply): string {
  return JSON.stringify({
    thinking,
    code: code.map((expr) => ({ expr, timeMs: 5_000 })),
    ...(final === undefined ? {} : { final: { answer: final, answerType, confidence: "high" } }),
  });
}

export function stuck(why: string): ProviderError {
  return new ProviderError(`Cannot continue the evaluation: ${why}`, { code: "server", retryable: false });
}

export function lastValue({ journal }: ReadContext): JournalRow {
  const row = journal.at(-1);
  if (row === undefined) throw stuck("the journal shows no result");
  if (row.failed) throw stuck(`the journal shows a failed block: ${row.outcome.slice(0, 200)}`);
  return row;
}

export function needsContext({ variables }: ReadContext): void {
  if (!variables.has("context")) throw stuck("<var_index> does not show the variable context");
}
