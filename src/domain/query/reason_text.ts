import { hasAnswer, type QueryReason, type QueryResult } from "./query_result.ts";

const TEXT: Readonly<Record<QueryReason, string>> = {
  answered: "answered",
  max_iterations: "stopped at the step limit",
  error_budget: "stopped after too many errors in a row",
  answer_schema: "no answer that satisfies the schema",
  unusable_replies: "the model gave no usable reply",
  unsupported_answer: "no result supports the answer",
  limit_cost: "stopped at the cost limit",
  limit_tokens: "stopped at the token limit",
  limit_time: "timed out",
  provider: "the model could not be used",
  configuration: "a setting prevents it",
  cancelled: "cancelled",
  process_lost: "interrupted: its process ended",
  unstored: "the answer could not be stored",
  defect: "internal error",
  forked: "forked here",
};

const ADVICE: Readonly<Partial<Record<QueryReason, string>>> = {
  max_iterations:
    "Ask again with more steps (budget.iterations, vis run --max-iterations), or ask for less at once; all variables are kept.",
  answer_schema:
    "Ask again with more steps (budget.iterations, vis run --max-iterations), or with a simpler schema; all variables are kept.",
  error_budget: "Rephrase the request, or ask for less at once; all variables are kept.",
  unusable_replies: "Choose another model (vis models lists them); all variables are kept.",
  unsupported_answer: "Ask again, or choose another model (vis models lists them); all variables are kept.",
  limit_cost: "Raise budget.costUsd (vis run --max-cost), or ask for less at once; all variables are kept.",
  limit_tokens: "Raise budget.tokens, or ask for less at once; all variables are kept.",
  limit_time: "Raise budget.wallMs (vis run --timeout), or ask for less at once; all variables are kept.",
};

/** Why a query ended, in a few words, as every interface for people says it. */
export function reasonText(reason: QueryReason): string {
  return TEXT[reason];
}

/** What to do about it; "" if there is nothing to advise. */
export function reasonAdvice(reason: QueryReason): string {
  return ADVICE[reason] ?? "";
}

/** What belongs next to the answer of a query that was stopped before it was done; "" if the answer is complete, or says
 * itself why there is none. */
export function stoppedText(result: Pick<QueryResult, "reason" | "noAnswer">): string {
  const { reason } = result;
  if (reason === "answered" || reason === "unstored" || !hasAnswer(result)) return "";
  const text = reasonText(reason);
  return `${text[0]?.toUpperCase()}${text.slice(1)}; this is the best answer so far. ${reasonAdvice(reason)}`.trimEnd();
}
