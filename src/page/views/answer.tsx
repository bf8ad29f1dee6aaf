import type { JSX } from "preact";
import { LongText } from "../parts/long_text.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { endOfText } from "../parts/shown_chars.ts";
import type { TurnEnd } from "../store/api_types.ts";
import type { Turn } from "../store/turn.ts";

/** The answer of a query, or the part of it that has arrived. */
export function Answer({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  if (end === null) {
    const text = turn.answer.value;
    return <div class="answer">{text !== "" && <p class="plain">{endOfText(text)}</p>}</div>;
  }
  const { answer, answerTree = null, reason, notes } = end;
  if (answer === "") return <div />;
  return (
    <div class={isGood(end) ? "answer" : "answer failed"}>
      {answerTree !== null ? <Markdown blocks={answerTree} /> : (
        <p class="plain">
          <LongText text={answer} />
        </p>
      )}
      {reason === "unstored" && <p class="reason">{notes.at(-1) ?? ""}</p>}
    </div>
  );
}

/** Whether the answer is one, and not the reason why there is none. */
export function isGood({ status, reason, noAnswer }: TurnEnd): boolean {
  return !noAnswer && (status === "done" || reason === "max_iterations" || reason === "error_budget");
}
