import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChoices,
  type ApprovalQuestion,
  approvalTitle,
  approvalWhy,
} from "../../domain/query/approval.ts";
import type { Decision } from "../../domain/query/outcomes.ts";
import { Button } from "../parts/button.tsx";

/** What an extension asks; `answer` receives the decision and the reason. */
export function Question({ question, answer }: {
  readonly question: ApprovalQuestion;
  readonly answer: (given: ApprovalAnswer) => void;
}): JSX.Element {
  const why = approvalWhy(question);
  const beginning = approvalBeginning(question);
  const reason = useRef<HTMLInputElement>(null);
  const choose = (decision: Decision) => (): void =>
    answer({ decision, reason: decision === "no" ? reason.current?.value.trim() ?? "" : "" });
  return (
    <section class="question" aria-label="Vis asks">
      <p class="plain">{approvalTitle(question)}</p>
      {why !== "" && <p class="plain why">{why}</p>}
      {beginning !== "" && <p class="plain">{beginning}</p>}
      <p class="choices">
        {approvalChoices(question).filter(({ decision }) => decision !== "no").map(({ decision, text }) => (
          <Button key={decision} class={decision === "once" ? "primary" : ""} run={choose(decision)}>
            {text.replace(/^yes/, "Yes")}
          </Button>
        ))}
      </p>
      <p class="choices">
        <Button class="danger" run={choose("no")}>No</Button>
        <input type="text" maxLength={1000} aria-label="Why not" placeholder="Why not (optional)" ref={reason} />
      </p>
    </section>
  );
}
