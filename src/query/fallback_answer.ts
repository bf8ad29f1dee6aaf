import { clip } from "../domain/text/clip.ts";
import { durationText } from "../domain/text/duration_text.ts";
import type { QueryReason } from "../domain/query/query_result.ts";
import { reasonAdvice } from "../domain/query/reason_text.ts";
import type { IterationFault } from "../iteration/iteration.ts";
import type { Unusable } from "./faults.ts";

/** The answer of a query without one of its own: what ended it, how far it got, what to do. Never empty. */
export function fallbackAnswer(facts: {
  readonly reason: Exclude<QueryReason, "answered" | "forked">;
  readonly iterations: number;
  /** Iterations that were counted against the budget. */
  readonly used: number;
  readonly budget: number;
  readonly ms: number;
  readonly thinking: string;
  readonly errors: readonly string[];
  /** Why the newest answer did not satisfy the required schema; null if it was not refused for that. */
  readonly refused?: string | null;
  readonly unusable?: Unusable | null;
  /** The last reply, if it was plain text. */
  readonly prose?: string | null;
  readonly unsupported?: { readonly answer: string; readonly reason: string } | null;
}): string {
  const { reason, iterations, used, budget, ms, thinking, errors } = facts;
  const lines = [
    headline(reason, {
      ...{ iterations, used, budget, ms },
      error: (reason === "answer_schema" ? facts.refused : errors.at(-1)) ?? "",
      unusable: facts.unusable ?? null,
    }),
  ];
  if (reason === "unusable_replies" && facts.prose) lines.push(`It wrote: ${clip(facts.prose.trim(), 2000)}`);
  if (reason === "unsupported_answer" && facts.unsupported) {
    lines.push(
      clip(facts.unsupported.reason, 1000),
      `The answer that it gave: ${clip(facts.unsupported.answer, 2000)}`,
    );
  }
  if (thinking && reason !== "unusable_replies" && reason !== "unsupported_answer") {
    lines.push(`Last thinking: ${clip(thinking, 800)}`);
  }
  if (reason === "error_budget") lines.push(...errors.slice(-3).map((error) => `Error: ${clip(error, 300)}`));
  const advice = reasonAdvice(reason);
  if (advice) lines.push(advice);
  return lines.join("\n");
}

/** What a model returned instead of a usable reply. */
const INSTEAD: Readonly<Record<Exclude<IterationFault, "broken" | "call">, string>> = {
  empty: "with an empty text",
  thinking: "with reasoning only",
  idle: "with neither code to run nor a final answer",
  tools: "with tool calls, although it has no tools",
  text: "with plain text instead of the required format",
  json: "with JSON that does not have the required format",
  cut: "with an incomplete text",
};

function headline(
  reason: Exclude<QueryReason, "answered" | "forked">,
  { iterations, used, budget, ms, error, unusable }: {
    readonly iterations: number;
    readonly used: number;
    readonly budget: number;
    readonly ms: number;
    readonly error: string;
    readonly unusable: Unusable | null;
  },
): string {
  const done = `${iterations} step${iterations === 1 ? "" : "s"}`;
  switch (reason) {
    case "max_iterations": {
      const free = iterations - used - 1; // the last call is not counted either
      const more = free === 1 ? " 1 more, without a result, was" : ` ${free} more, without a result, were`;
      return `No answer within the budget of ${budget} step${budget === 1 ? "" : "s"}.${
        free > 0 ? `${more} not counted.` : ""
      }`;
    }
    case "error_budget":
      return `No answer: too many errors in a row after ${done}.`;
    case "answer_schema":
      return `No answer that satisfies the schema after ${done}. ${clip(error, 1000)}`;
    case "unusable_replies":
      return unusable === null ? "The model gave no usable reply." : said(unusable);
    case "unsupported_answer":
      return "No answer: the model repeated one that nothing it computed supports.";
    case "limit_cost":
      return `No answer: the cost limit was reached after ${done}.`;
    case "limit_tokens":
      return `No answer: the token limit was reached after ${done}.`;
    case "limit_time":
      return `Timed out after ${durationText(ms)} in step ${iterations + 1}.`;
    case "provider":
      return error || "The model could not be reached.";
    case "configuration":
      return error || "A setting prevents this request.";
    case "cancelled":
      return `Cancelled after ${done}; completed work is kept.`;
    case "process_lost":
      return `Interrupted: its process ended after ${done}; completed work is kept.`;
    case "unstored":
      return `No answer: the database could not be used after ${done}; what was stored before is kept.`;
    case "defect":
      return `Vis failed with an internal error after ${done}; completed work is kept.`;
  }
}

function said({ model, count, fault }: Unusable): string {
  const instead = fault === null || fault === "broken" || fault === "call" ? null : INSTEAD[fault];
  return `The model ${model} replied ${count} times in a row ${instead ?? "without anything usable"}.`;
}
