import { durationText } from "../../domain/kit/text.ts";
import type { QueryReason } from "../../domain/query/outcomes.ts";
import { inspect } from "../panels/inspector.tsx";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy_button.tsx";
import type { TurnEnd } from "../store/api_types.ts";
import { guarded } from "../store/entry.ts";
import { thread } from "../store/thread_shown.ts";
import type { Turn } from "../store/turn.ts";
import { isGood } from "./answer.tsx";
import { revealStep } from "./steps.tsx";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";

/** With more steps than this, steps can be looked up by number. */
const MANY_STEPS = 40;
/** Why there is no answer. */
const WHY: Readonly<Partial<Record<QueryReason, string>>> = {
  max_iterations: "step limit reached",
  error_budget: "too many errors",
  answer_schema: "no answer matches the schema",
  unsupported_answer: "nothing supports the answer",
  unusable_replies: "failed: unusable replies from the model",
  limit_cost: "cost limit reached",
  limit_tokens: "token limit reached",
  limit_time: "time limit reached",
  provider: "failed: no response from the model",
  configuration: "failed: configuration",
  unstored: "not saved",
  defect: "failed: internal error",
  cancelled: "cancelled",
  process_lost: "interrupted: the process ended",
  forked: "forked here",
};

/** What a query that has ended took, and what can be done with it. */
export function TurnFooter({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  if (end === null) return <footer />;
  const { answer, iterations } = end;
  const resume = () => guarded(() => thread.send("Continue where you stopped."));
  return (
    <footer>
      <span>{factsOf(end)}</span>
      <CopyButton text={() => answer} class="quiet" aria-label="copy the answer" />
      {iterations > 0 && <Button class="quiet" run={() => inspect(turn, 1)}>inspect</Button>}
      <Button class="quiet" run={() => guarded(() => thread.fork(turn))}>fork from here</Button>
      <Button class="quiet at-end" run={() => guarded(() => thread.again(turn))}>run again</Button>
      {!isGood(end) && <Button class="quiet at-end" run={resume}>continue</Button>}
      {iterations > MANY_STEPS && <GoTo turn={turn} iterations={iterations} />}
    </footer>
  );
}

function GoTo({ turn, iterations }: { readonly turn: Turn; readonly iterations: number }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void revealStep(turn, Math.min(iterations, Math.max(1, Number(input.current?.value) || 1)));
  };
  return (
    <form class="goto" onSubmit={onSubmit}>
      {"go to step "}
      <input type="number" min={1} max={iterations} aria-label="Step number" ref={input} />
    </form>
  );
}

function factsOf({ status, reason, ms, usage, costUsd, confidence }: TurnEnd): string {
  const parts = [durationText(ms)];
  if (usage.input + usage.output > 0) {
    parts.push(`${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out`);
    if (costUsd === null) parts.push("price unknown");
  }
  if (costUsd !== null && costUsd > 0) parts.push(`$${costUsd.toFixed(4)}`);
  if (status !== "done") parts.unshift((reason && WHY[reason]) ?? reason ?? status);
  else if (confidence !== "high") parts.push(`confidence ${confidence}`);
  return parts.join(" · ");
}
