/** `forked` marks a query of which a fork shows only the first iterations. */
export const QUERY_REASONS = [
  "answered",
  "max_iterations",
  "error_budget",
  "answer_schema",
  "unusable_replies",
  "unsupported_answer",
  "limit_cost",
  "limit_tokens",
  "limit_time",
  "provider",
  "configuration",
  "cancelled",
  "process_lost",
  "unstored",
  "defect",
  "forked",
] as const;
export type QueryReason = typeof QUERY_REASONS[number];

export const QUERY_STATUSES = ["done", "error", "interrupted"] as const;
export type QueryStatus = typeof QUERY_STATUSES[number];

interface Ending {
  readonly reason: QueryReason;
  readonly noAnswer?: true | undefined;
}

const STATUS: Readonly<Record<QueryReason, QueryStatus>> = {
  answered: "done",
  max_iterations: "error",
  error_budget: "error",
  answer_schema: "error",
  unusable_replies: "error",
  unsupported_answer: "error",
  limit_cost: "error",
  limit_tokens: "error",
  limit_time: "error",
  provider: "error",
  configuration: "error",
  unstored: "error",
  defect: "error",
  cancelled: "interrupted",
  process_lost: "interrupted",
  forked: "interrupted",
};

const WITHOUT_ANSWER: ReadonlySet<QueryReason> = new Set([
  "answer_schema",
  "unusable_replies",
  "unsupported_answer",
  "provider",
  "configuration",
  "cancelled",
  "process_lost",
  "defect",
  "forked",
]);

/** Returns false if `answer` only explains the failure. A query that reached its budget or a limit may still have an
 * answer. */
export function hasAnswer({ reason, noAnswer }: Ending): boolean {
  return !noAnswer && !WITHOUT_ANSWER.has(reason);
}

export function statusOf(reason: QueryReason): QueryStatus {
  return STATUS[reason];
}

const TEXT: Readonly<Record<QueryReason, string>> = {
  answered: "answered",
  max_iterations: "stopped at the step limit",
  error_budget: "stopped after too many failed steps",
  answer_schema: "no answer that satisfies the schema",
  unusable_replies: "the model gave no usable reply",
  unsupported_answer: "Vis refused two answers for the same reason",
  limit_cost: "stopped at the cost limit",
  limit_tokens: "stopped at the token limit",
  limit_time: "timed out",
  provider: "Vis could not use the model",
  configuration: "stopped by a setting",
  cancelled: "cancelled",
  process_lost: "interrupted: Vis ended or stopped responding",
  unstored: "Vis could not store the answer",
  defect: "internal error",
  forked: "forked here",
};

/** The advice names no command or button, because interfaces with different commands show the advice. */
const ADVICE: Readonly<Partial<Record<QueryReason, string>>> = {
  max_iterations: "Continue with 10 more steps, or ask for less at once; the variables are kept.",
  answer_schema: "Continue with 10 more steps, or ask again with a simpler schema; the variables are kept.",
  error_budget: "Rephrase the request, or ask for less at once; the variables are kept.",
  unusable_replies: "Choose another model; the variables are kept.",
  unsupported_answer: "Ask again, or choose another model; the variables are kept.",
  limit_cost:
    "Raise the cost limit of the request (default: budget.costUsd), or ask for less at once; the variables are kept.",
  limit_tokens:
    "Raise the token limit of the request (default: budget.tokens), or ask for less at once; the variables are kept.",
  limit_time:
    "Raise the time limit of the request (default: budget.wallMs), or ask for less at once; the variables are kept.",
};

export const READING_MODES = ["plan", "review", "aside"] as const;
export type ReadingMode = typeof READING_MODES[number];

export const PLANNED_TEXT = "This is a plan. Send go to carry it out, or say what should be different.";

export const MORE_STEPS = 10;
export const MORE_TEXT = `${MORE_STEPS} more steps`;

export function takesMore(reason: QueryReason): boolean {
  return reason === "max_iterations" || reason === "answer_schema";
}

const GO_ON = "Continue this request, which stopped at its step limit; all variables are kept:\n\n";

export function moreRequest(text: string): string {
  return text.startsWith(GO_ON) ? text : GO_ON + text;
}

export function reasonText(reason: QueryReason): string {
  return TEXT[reason];
}

export function reasonAdvice(reason: QueryReason): string {
  return ADVICE[reason] ?? "";
}

export function stoppedText(result: Ending): string {
  const { reason } = result;
  if (reason === "answered" || reason === "unstored" || !hasAnswer(result)) return "";
  const text = reasonText(reason);
  return `${text[0]?.toUpperCase()}${text.slice(1)}; this is the best answer so far. ${reasonAdvice(reason)}`.trimEnd();
}

/** Some readers see only this text, which therefore includes why Vis stopped the query or could not store the answer. */
export function shownAnswer(result: Ending & { readonly answer: string; readonly notes: readonly string[] }): string {
  const { reason, answer, notes } = result;
  const why = reason === "unstored" ? notes.at(-1) ?? "" : stoppedText(result);
  return why === "" ? answer : `${answer}\n\n${why}`;
}

export const OUTCOMES = ["executed", "empty", "failed", "refused", "final"] as const;
export type IterationOutcome = typeof OUTCOMES[number];

export function outcomeOf({ outcome }: Readonly<Record<string, unknown>>): IterationOutcome | null {
  return OUTCOMES.find((one) => one === outcome) ?? null;
}

/** After "conversation" or "workspace", Vis stops asking there about the same extension and scope. */
export const DECISIONS = ["once", "conversation", "workspace", "no"] as const;
export type Decision = typeof DECISIONS[number];
