import { setImmediate as nextTurn } from "node:timers/promises";
import { visibleText } from "../../../domain/kit/text.ts";
import type { MarkdownBlock } from "../../../markdown/tree.ts";

/** Reading a longer answer could hold up other requests. */
const MAX_CHARS = 30_000;
const MARKED = /^(#{1,6} |```|[-*] |\d+\. |\|)/m;

interface Answered {
  readonly answer: string;
  readonly answerType: string;
}

/** Adds to each query its answer as a tree without markup: null if the answer is not in Markdown, and if it is long. */
export async function withAnswerTrees<T extends Answered>(
  queries: readonly T[],
): Promise<readonly (T & { readonly answerTree: readonly MarkdownBlock[] | null })[]> {
  const { parseMarkdown } = await import("../../../markdown/parse_markdown.ts");
  const found = [];
  for (const query of queries) {
    const { answer, answerType } = query;
    const isMarkdown = answer.length <= MAX_CHARS && (answerType === "markdown" || MARKED.test(answer));
    if (isMarkdown) await nextTurn(); // other requests are answered in between
    found.push({ ...query, answerTree: isMarkdown ? parseMarkdown(answer, { clean: visibleText }) : null });
  }
  return found;
}
