import { signal } from "@preact/signals";
import type { FunctionComponent, JSX } from "preact";
import { LongText } from "../parts/long_text.tsx";
import { endOfText } from "../parts/shown_chars.ts";
import type { TurnEnd } from "../store/api_types.ts";
import type { Turn } from "../store/turn.ts";

/** Longer answers are shown as plain text. */
const MARKDOWN_CHARS = 100_000;

const markdown = signal<FunctionComponent<{ readonly text: string }> | null>(null);

/** Loads what draws Markdown, most of the page's script, after the page can be used. */
export async function loadMarkdown(): Promise<void> {
  markdown.value ??= (await import("../parts/markdown.tsx")).Markdown;
}

/** The answer of a query, or the part of it that has arrived. */
export function Answer({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  if (end === null) {
    const text = turn.answer.value;
    return <div class="answer">{text !== "" && <p class="plain">{endOfText(text)}</p>}</div>;
  }
  const { answer, answerType, reason, notes } = end;
  const Markdown = markdown.value;
  const isMarkdown = answerType === "markdown" || /^(#{1,6} |```|[-*] |\d+\. |\|)/m.test(answer);
  return (
    <div class={isGood(end) ? "answer" : "answer failed"}>
      {isMarkdown && Markdown !== null && answer.length <= MARKDOWN_CHARS
        ? <Markdown text={answer} />
        : (
          <p class="plain">
            <LongText text={answer} />
          </p>
        )}
      {reason === "unstored" && <p class="reason">{notes.at(-1) ?? ""}</p>}
    </div>
  );
}

/** Whether the answer is one, and not the reason why there is none. */
export function isGood({ status, reason }: TurnEnd): boolean {
  return status === "done" || reason === "max_iterations" || reason === "error_budget";
}
