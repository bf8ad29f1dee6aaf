import type { QueryResult } from "../../../domain/query/query_result.ts";
import { shownAnswer } from "../../../domain/query/shown_answer.ts";
import { footer } from "./footer.ts";
import { renderMarkdown } from "../text/render_markdown.ts";
import { RichText } from "../text/rich_text.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";

/** What a query came to, as a chat reads it. */
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
  return new RichText().add(visibleText(answer.toWellFormed()).trimEnd());
}
