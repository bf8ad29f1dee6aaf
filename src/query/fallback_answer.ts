import { clip } from "../domain/clip.ts";
import type { QueryReason } from "../domain/query_result.ts";

/** The answer of a query that has none of its own: what ended it, how far it came, what to do. Never empty. */
export function fallbackAnswer(facts: {
  readonly reason: Exclude<QueryReason, "answered">;
  readonly iterations: number;
  readonly budget: number;
  readonly thinking: string;
  readonly errors: readonly string[];
  /** Why the newest answer did not satisfy the schema that it must, null where it was not refused for that. */
  readonly refused?: string | null;
}): string {
  const { reason, iterations, budget, thinking, errors } = facts;
  const lines = [
    headline(reason, { iterations, budget, error: (reason === "answer_schema" ? facts.refused : errors.at(-1)) ?? "" }),
  ];
  if (thinking) lines.push(`Last reasoning: ${clip(thinking, 800)}`);
  if (reason === "error_budget") lines.push(...errors.slice(-3).map((error) => `Error: ${clip(error, 300)}`));
  const advice = ADVICE[reason];
  if (advice) lines.push(advice);
  return lines.join("\n");
}

const ADVICE: Readonly<Partial<Record<QueryReason, string>>> = {
  max_iterations: "Ask again with more iterations (--max-iterations), or for a smaller step; all variables are kept.",
  answer_schema: "Ask again with more iterations (--max-iterations), or with a simpler schema; all variables are kept.",
  error_budget: "Ask in another way, or for a smaller step; all variables are kept.",
  limit_cost: "Raise budget.costUsd (--max-cost), or ask for a smaller step; all variables are kept.",
  limit_tokens: "Raise budget.tokens, or ask for a smaller step; all variables are kept.",
  limit_time: "Raise budget.wallMs (--timeout), or ask for a smaller step; all variables are kept.",
};

function headline(
  reason: Exclude<QueryReason, "answered">,
  { iterations, budget, error }: { readonly iterations: number; readonly budget: number; readonly error: string },
): string {
  const done = `${iterations} iteration${iterations === 1 ? "" : "s"}`;
  switch (reason) {
    case "max_iterations":
      return `No answer within the budget of ${budget} iteration${budget === 1 ? "" : "s"}.`;
    case "error_budget":
      return `No answer: too many errors in a row after ${done}.`;
    case "answer_schema":
      return `No answer that satisfies the schema after ${done}. ${clip(error, 1000)}`;
    case "limit_cost":
      return `No answer: the cost limit was reached after ${done}.`;
    case "limit_tokens":
      return `No answer: the token limit was reached after ${done}.`;
    case "limit_time":
      return `No answer: the time limit was reached after ${done}.`;
    case "provider":
      return error || "The model could not be reached.";
    case "configuration":
      return error || "A setting stands in the way.";
    case "cancelled":
      return `Cancelled after ${done}; what was done is kept.`;
    case "process_lost":
      return `Interrupted: the process that ran it ended after ${done}; what was done is kept.`;
    case "unstored":
      return `No answer: the database could not be used after ${done}; what was stored until then is kept.`;
    case "defect":
      return `The query ended because of a defect in Vis after ${done}; what was done is kept.`;
  }
}
