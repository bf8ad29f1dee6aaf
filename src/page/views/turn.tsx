import type { JSX } from "preact";
import { LongText } from "../parts/long_text.tsx";
import { plural } from "../text/plural.ts";
import { guarded } from "../store/entry.ts";
import { thread } from "../store/thread_shown.ts";
import type { Turn } from "../store/turn.ts";
import { Answer } from "./answer.tsx";
import { Changes } from "./changes.tsx";
import { Question } from "./question.tsx";
import { Steps } from "./steps.tsx";
import { TurnFooter } from "./turn_footer.tsx";

/** One request and its result. The last one of a conversation can be run again, or continued if it was interrupted. */
export function TurnView({ turn, last }: { readonly turn: Turn; readonly last: boolean }): JSX.Element {
  const kinds = ["turn", turn.running.value && "running", last && "last"];
  return (
    <article class={kinds.filter(Boolean).join(" ")} ref={(node) => void (turn.node = node)}>
      <h2 class="unseen">Request</h2>
      <div class="asked">
        <LongText text={turn.request} />
      </div>
      <Meanwhile messages={turn.steered.value.filter(({ step }) => step !== null)} />
      <div class="done">
        <Work turn={turn} />
        <Meanwhile messages={turn.steered.value.filter(({ step }) => step === null)} />
        <Asking turn={turn} />
        <Answer turn={turn} />
        <Changes turn={turn} />
        <TurnFooter turn={turn} />
      </div>
    </article>
  );
}

function Meanwhile({ messages }: { readonly messages: Turn["steered"]["value"] }): JSX.Element {
  return (
    <>
      {messages.map(({ text, step }, at) => (
        <div key={at} class="asked meanwhile">
          <LongText text={text} />
          <small>{step === null ? "waits for the next step" : `read by step ${step}`}</small>
        </div>
      ))}
    </>
  );
}

function Work({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  return (
    <details
      class="work"
      open={turn.open.value}
      hidden={end !== null && end.iterations === 0}
      onToggle={({ currentTarget }) => turn.showSteps(currentTarget.open)}
    >
      <summary>{end === null ? working(turn) : plural(end.iterations, "step")}</summary>
      <Steps turn={turn} />
    </details>
  );
}

function working({ count, tokens, doing, elapsed }: Turn): string {
  const parts = [
    count.value === 0 ? "Working" : `Step ${count.value}`,
    doing.value,
    elapsed.value < 1000 ? "" : clockText(elapsed.value),
    tokens.value === null ? "" : plural(tokens.value, "token"),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** "12 s", "3 min 05 s". */
function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const rest = String(seconds % 60).padStart(2, "0");
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${rest} s`;
}

function Asking({ turn }: { readonly turn: Turn }): JSX.Element {
  const question = turn.question.value;
  return (
    <div aria-live="polite">
      {question && (
        <Question
          key={question.id}
          question={question}
          answer={(given) => void guarded(() => thread.answer(turn, question.id, given))}
        />
      )}
    </div>
  );
}
