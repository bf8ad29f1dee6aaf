import type { ReplyExample } from "../../extension/spec.ts";

/** Used if no extension provides an example. */
const NO_EXTENSION: ReplyExample = {
  thinking: "Count them in code.",
  code: "const words = $query.match(/\\w+/g) ?? []\nwords.length",
  timeMs: 1000,
  answer: "{{words.length}} words",
};

/** The third message of every call: the reply's format for any text model, byte-identical throughout a query. A test
 * compares it with a schema. */
export function replyFormat({ thinking, code, timeMs, answer }: ReplyExample = NO_EXTENSION): string {
  return `${FORMAT}
To work: ${JSON.stringify({ thinking, code: [{ expr: code, timeMs }] })}
To finish: ${JSON.stringify({ final: { answer } })}`;
}

const FORMAT = `Reply with exactly one JSON object, nothing around it:
{
  "thinking"?: string  // a few lines: what is asked, done and next
  "code"?: {"expr": string, "timeMs"?: number}[]  // TypeScript blocks; a last expression is the result
  "next"?: {"model"?: "cost" | "speed" | "intelligence", "reasoning"?: "quick" | "balanced" | "deep"}  // for the next iteration
  "final"?: {"answer": string, "answerType"?: "text" | "markdown", "confidence"?: "high" | "medium" | "low"}  // when the request is answered; ends the work
}
Inside strings write a line feed as \\n, " as \\" and \\ as \\\\ (\\d as \\\\d). Never write results yourself: they come in the next message.`;
