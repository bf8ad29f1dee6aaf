import { visibleText } from "../../../domain/kit/text.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import type { Io } from "../../channel.ts";

/** Lines that mean something in Markdown and nothing else in an answer. */
const MARKED = /^(?:#{1,6} |```|\||[-*] |\d+\. )/m;
const MAX_MARKDOWN = 100_000;
/** Some terminals report no width. */
const MIN_WIDTH = 24;
const MAX_WIDTH = 120;

/** An answer as it is written to stdout: drawn on a terminal if it is Markdown, exactly as it is elsewhere. Ends its
 * line. */
export async function printedAnswer(
  { answer, answerType }: Pick<QueryResult, "answer" | "answerType">,
  { stdoutIsTerminal, stdoutColor, columns }: Pick<Io, "stdoutIsTerminal" | "stdoutColor" | "columns">,
): Promise<string> {
  if (!stdoutIsTerminal) return ended(answer);
  if (answerType !== "markdown" && !MARKED.test(answer) || answer.length > MAX_MARKDOWN) {
    return ended(visibleText(answer));
  }
  const [{ parseMarkdown }, { markdownLines }, { terminalPaint }] = await Promise.all([
    import("../../../markdown/parse_markdown.ts"),
    import("../../../markdown/terminal/markdown_lines.ts"),
    import("../../../markdown/terminal/paint.ts"),
  ]);
  const paint = terminalPaint({ color: stdoutColor, weights: stdoutColor });
  const width = Math.min(Math.max(MIN_WIDTH, columns()), MAX_WIDTH);
  return ended(markdownLines(parseMarkdown(answer, { clean: visibleText }), { width, paint }).join("\n"));
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
