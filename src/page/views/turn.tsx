import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { durationText } from "../../domain/kit/text.ts";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChoices,
  type ApprovalQuestion,
  approvalTitle,
  approvalWhy,
} from "../../domain/query/approval.ts";
import { aboutText } from "../../domain/query/model_call.ts";
import type { Decision, QueryReason } from "../../domain/query/outcomes.ts";
import { keptText } from "../../domain/undo.ts";
import { ask } from "../panels/ask.tsx";
import { inspect } from "../panels/inspector.tsx";
import { Button, CopyButton } from "../parts/controls.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { endOfText, LongText, ShownDiff } from "../parts/texts.tsx";
import { plural } from "../parts/words.ts";
import type { TurnEnd, UndoPreview } from "../store/api.ts";
import { guarded, say } from "../store/entry.ts";
import { changes, thread } from "../store/thread.ts";
import type { Turn } from "../store/turn_and_steps.ts";
import { revealStep, Steps } from "./steps.tsx";

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

/** The answer of a query, or the part of it that has arrived. */
function Answer({ turn }: { readonly turn: Turn }): JSX.Element {
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
function isGood({ status, reason, noAnswer }: TurnEnd): boolean {
  return !noAnswer && (status === "done" || reason === "max_iterations" || reason === "error_budget");
}

/** What an extension asks; `answer` receives the decision and the reason. */
function Question({ question, answer }: {
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

const MOST_NAMED = 8;

/** What a query changed in files, with the way to undo it. Only for the query with the latest changes. */
function Changes({ turn }: { readonly turn: Turn }): JSX.Element | null {
  const { value } = changes.latest;
  if (value === null || value.fault !== null || value.files.length === 0) return null;
  if (value.changes[0]?.queryId !== turn.queryId) return null;
  return (
    <details class="changes" open>
      <summary>{summary(value)}</summary>
      {value.files.map(({ path, diff }) => <ShownDiff key={path} label={`Changes of ${path}`} text={diff} />)}
      <Button run={() => guarded(() => undo(turn.conversation))}>Undo these changes</Button>
    </details>
  );
}

function summary({ files }: UndoPreview): string {
  const count = (sign: RegExp) => files.reduce((sum, { diff }) => sum + (diff.match(sign)?.length ?? 0), 0);
  const [added, removed] = [count(/^\+(?!\+\+ )/gm), count(/^-(?!-- )/gm)];
  return `${plural(files.length, "file")} changed +${added} −${removed}`;
}

async function undo(conversation: string): Promise<void> {
  const found = await changes.load(conversation); // others may have changed the files meanwhile
  if (found.fault !== null) throw new Error(found.fault);
  const paths = found.files.map(({ path }) => path);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  const named = `${paths.slice(0, MOST_NAMED).join(", ")}${more}`;
  const question = [`Undo the changes of ${named}?`, keptText(found, "It keeps")].join(" ").trimEnd();
  if (await ask(question, { verb: "Undo" }) === null) return;
  const undone = await changes.undo(conversation, found);
  const done = `Undid the changes of ${plural(undone.files.length, "file")}; vis undo --redo reapplies them`;
  say([done, keptText(undone)].filter((text) => text !== "").join(". "));
}

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
function TurnFooter({ turn }: { readonly turn: Turn }): JSX.Element {
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
    parts.push(`${aboutText(usage)}${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out`);
    if (costUsd === null) parts.push("price unknown");
  }
  if (costUsd !== null && costUsd > 0) parts.push(`${aboutText(usage)}$${costUsd.toFixed(4)}`);
  if (status !== "done") parts.unshift((reason && WHY[reason]) ?? reason ?? status);
  else if (confidence !== "high") parts.push(`confidence ${confidence}`);
  return parts.join(" · ");
}
