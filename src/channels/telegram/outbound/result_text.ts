import { harmlessText } from "../../../domain/kit/text.ts";
import { shownAnswer } from "../../../domain/query/outcomes.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import { renderMarkdown } from "../text/render_markdown.ts";
import { RichText } from "../text/rich_text.ts";

/** Time, tokens and cost of a query on one line. */
function footer(
  { iterations, ms, usage, costUsd }: Pick<QueryResult, "iterations" | "ms" | "usage" | "costUsd">,
  model: string,
): string {
  return [
    `${iterations} step${iterations === 1 ? "" : "s"}`,
    `${(ms / 1000).toFixed(1)} s`,
    model,
    `${tokens(usage.input)} → ${tokens(usage.output)} tokens`,
    costUsd === null ? "price unknown" : `$${costUsd.toFixed(4)}`,
  ].join(" · ");
}

function tokens(count: number): string {
  return count < 10_000 ? `${count}` : `${(count / 1000).toFixed(1)}k`;
}

/** The result of a query as a chat shows it. */
export function resultText(
  result: Omit<QueryResult, "queryId" | "conversationId" | "confidence" | "value">,
  { model }: { readonly model: string },
): RichText {
  if (result.reason === "cancelled") return new RichText().add("⏹ Cancelled");
  const answer = shownAnswer(result);
  const text = result.answerType === "markdown" ? renderMarkdown(answer) : plain(answer);
  const whole = new RichText();
  if (result.status !== "done") whole.add("⚠️ ");
  for (const run of text.runs) whole.add(run.text, run.spans);
  return whole.add("\n\n").add(footer(result, model), [{ type: "italic" }]);
}

function plain(answer: string): RichText {
  return new RichText().add(harmlessText(answer.toWellFormed()).trimEnd());
}
