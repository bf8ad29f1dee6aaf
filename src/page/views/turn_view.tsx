import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { durationText, oneLine, someOf } from "../../domain/kit/text.ts";
import { aboutText } from "../../domain/query/model_call.ts";
import { MORE_TEXT, PLANNED_TEXT, type QueryReason, reasonText, takesMore } from "../../domain/query/outcomes.ts";
import { endedPlan, planLine, taskLine } from "../../domain/query/plan.ts";
import type { Work } from "../../domain/query/query_schemas.ts";
import { workParts } from "../../domain/query/work_summary.ts";
import { keptText, undonePlaces } from "../../domain/undo.ts";
import { diffCounts } from "../../markdown/parse_diff.ts";
import type { MarkdownBlock } from "../../markdown/tree.ts";
import { ask } from "../panels/dialogs.tsx";
import { inspect } from "../panels/inspector.tsx";
import { Button, CopyButton } from "../parts/controls.tsx";
import { countsOf, Diffs, endOfText, LongText, Markdown, plural } from "../parts/texts.tsx";
import type { TurnEnd } from "../store/api.ts";
import { choices, guarded, placeOfCommands, say } from "../store/state.ts";
import { changes, thread } from "../store/thread.ts";
import { storedSteps, type Turn } from "../store/turn.ts";
import { Question } from "./question.tsx";
import { Mark, Meanwhile, revealStep, Steps } from "./steps.tsx";

export function TurnView({ turn, last }: { readonly turn: Turn; readonly last: boolean }): JSX.Element {
  const { before, after } = messagesOutside(turn);
  const kinds = ["turn", turn.running.value && "running", last && "last"];
  return (
    <article class={kinds.filter(Boolean).join(" ")} ref={(node) => void (turn.node = node)}>
      <h2 class="unseen">Request</h2>
      <div class="asked">
        <LongText text={turn.request} />
        {turn.only && <small>{turn.only}</small>}
        {!!turn.images && <small>{plural(turn.images, "image")}</small>}
      </div>
      <div class="done">
        <Meanwhile messages={before} />
        <Work turn={turn} />
        <Meanwhile messages={after} />
        <Plan turn={turn} />
        <Asking turn={turn} />
        <Answer turn={turn} />
        {turn.only === "plan" && turn.end.value !== null && <Planned />}
        <Changes turn={turn} />
        <Undone turn={turn} />
        <TurnFooter turn={turn} />
      </div>
    </article>
  );
}

/** An open step shows the messages that it has read. If the fold hides the step, its messages are before the fold,
 * because the work after the step followed them. */
function messagesOutside({ open, end, count, steered }: Turn): Readonly<
  Record<"before" | "after", Turn["steered"]["value"]>
> {
  const steps = end.value === null ? count.value : storedSteps(end.value);
  const isInStep = ({ step }: Turn["steered"]["value"][number]): boolean => step !== null && step <= steps;
  return {
    before: open.value ? [] : steered.value.filter(isInStep),
    after: steered.value.filter((message) => !isInStep(message)),
  };
}

function Work({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  // Without the steps, the page would take the fold for the end of the conversation. The steps must therefore exist
  // before the browser reports a scroll.
  const toggle = (event: Event): void => {
    event.preventDefault();
    turn.showSteps(!turn.open.value);
  };
  return (
    <details
      class="work"
      open={turn.open.value}
      hidden={end !== null && storedSteps(end) === 0}
      onToggle={({ currentTarget }) => turn.showSteps(currentTarget.open)}
    >
      <summary onClick={toggle}>{stepsText(turn)}</summary>
      <Steps turn={turn} />
    </details>
  );
}

function stepsText(turn: Turn): string {
  const end = turn.end.value;
  if (end === null) return turn.count.value === 0 ? "Working…" : plural(turn.count.value, "step");
  const steps = plural(end.iterations, end.reason === "process_lost" ? "finished step" : "step");
  const { did = "" } = end.work ?? {};
  // The list below the answer says the same, unless an action failed or was refused.
  const isShown = end.work && (!isListed(end.work) || /^[✓–✗]/.test(did));
  return [steps, isShown && did].filter(Boolean).join(" · ");
}

function Plan({ turn }: { readonly turn: Turn }): JSX.Element | null {
  const items = turn.plan.value;
  const end = turn.end.value;
  if (items.length === 0) return null;
  return (
    <details class="plan" open={end === null}>
      <summary>{`Tasks: ${planLine(items, { ended: end !== null })}${end && !isGood(end) ? " · ended" : ""}`}</summary>
      <ul>
        {(end ? endedPlan(items) : items).map((item, at) => <li key={at} class={item.state}>{taskLine(item)}</li>)}
      </ul>
    </details>
  );
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

function Answer({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  if (end === null) {
    return (
      <div class="answer">
        <Draft turn={turn} />
      </div>
    );
  }
  const { answer, answerTree, reason, notes } = end;
  const kinds = ["answer", !isGood(end) && "failed", reason === "cancelled" && "stopped"];
  const work = end.work && !isListed(end.work) ? end.work.text : "";
  // The last note is the reason of an unstored answer, which has its own line.
  const others = notes.slice(0, reason === "unstored" ? -1 : undefined).filter((note) => note !== end.work?.text);
  const isPending = answerTree === undefined && turn.draft.text.value === answer;
  if (answer === "") return <div />;
  const place = isGood(end) ? "" : placeOfCommands(answer);
  return (
    <div class={kinds.filter(Boolean).join(" ")}>
      {reason === "cancelled" && <Draft turn={turn} />}
      {answerTree
        ? <Markdown blocks={answerTree} />
        : (turn.draft.drawn.value !== null || isPending) && reason !== "cancelled"
        ? <Draft turn={turn} />
        : (
          <p class="plain">
            <LongText text={answer} />
          </p>
        )}
      {place !== "" && <p class="did">{place}</p>}
      {work !== "" && <p class="did">{work}</p>}
      {others.map((note) => <p class="did" key={note}>{note}</p>)}
      {reason === "unstored" && <p class="reason">{notes.at(-1) ?? ""}</p>}
    </div>
  );
}

function Planned(): JSX.Element {
  const carryOut = (): Promise<void> => {
    choices.plan.value = false; // The user may have ticked the box again.
    return thread.send("go");
  };
  return (
    <p class="did planned">
      {PLANNED_TEXT}
      <Button class="small primary at-end" run={() => guarded(carryOut)}>Carry out the plan</Button>
    </p>
  );
}

function Draft({ turn: { draft, isAccepted } }: { readonly turn: Turn }): JSX.Element | null {
  const [text, drawn] = [draft.plain.value, draft.drawn.value];
  useLayoutEffect(() => thread.scroller?.keepEnd(), [drawn]);
  const kind = isAccepted.value ? "" : "draft";
  if (drawn === null) return text === "" ? null : <p class={`plain ${kind}`}>{endOfText(text)}</p>;
  return (
    <div class={kind}>
      {drawn.finished.map((tree, at) => <Finished key={at} tree={tree} />)}
      <Markdown blocks={drawn.rest} />
    </div>
  );
}

function Finished({ tree }: { readonly tree: readonly MarkdownBlock[] }): JSX.Element {
  return useMemo(() => <Markdown blocks={tree} />, [tree]);
}

function isGood({ status, reason, noAnswer }: TurnEnd): boolean {
  return !noAnswer && (status === "done" || reason === "max_iterations" || reason === "error_budget");
}

const MOST_NAMED = 8, REQUEST_CHARS = 60;
const SHORT_LINES = 12, NARROW = 600;

function Changes({ turn }: { readonly turn: Turn }): JSX.Element | null {
  const value = turn.running.value ? null : changes.of(turn); // The server refuses an undo while the request runs.
  const diffs = value?.files.map(({ diff }) => diff) ?? turn.diffs.value;
  useLayoutEffect(() => {
    if (value !== null) turn.diffs.value = diffs; // After a later change, the undo is gone, but the diff stays.
    thread.scroller?.keepEnd();
  }, [value]);
  const { work, reason } = turn.end.value ?? {};
  // The steps of a cancelled request already show the commands that the cancellation ended.
  const parts = work && isListed(work) && (reason !== "cancelled" || work.files > 0) ? workParts(work) : null;
  if (value === null && parts === null) return null;
  const counts = countsOf(diffs ?? []);
  const wasUndone = changes.latest.value?.undoneQueries.includes(turn.queryId ?? "");
  // On a phone, an open diff would push the answer out of view.
  const isShort = diffs !== null && counts.lines <= SHORT_LINES && !wasUndone && innerWidth > NARROW;
  return (
    <div class="changes">
      {value !== null && (
        <Button
          class="small"
          data-does="undo"
          aria-label="Undo these changes"
          run={() => guarded(() => undo(turn))}
        >
          Undo
        </Button>
      )}
      {(value !== null || parts?.changed) && (
        <details
          open={isShort}
          onToggle={({ currentTarget }) => currentTarget.open && void guarded(() => turn.loadDiffs())}
        >
          <summary>
            {parts?.changed || `${undonePlaces(value ?? {})} changed${diffs?.length ? ` ${diffCounts(counts)}` : ""}`}
            {wasUndone && " · undone"}
          </summary>
          {diffs && <Diffs diffs={diffs} />}
        </details>
      )}
      {parts?.others && <p class="did">{parts.others}</p>}
      <Ran commands={parts?.failed} failed />
      <Ran commands={parts?.good} />
      {parts?.more && (
        <details>
          <summary>{`and ${parts.more}`}</summary>
          <Ran commands={parts.rest} />
        </details>
      )}
      {value !== null && value.kept.length > 0 && <p>{keptText(value, "Undo keeps")}</p>}
    </div>
  );
}

function Ran({ commands = [], failed = false }: {
  readonly commands?: Work["commands"] | undefined;
  readonly failed?: boolean;
}): JSX.Element {
  return (
    <>
      {commands.map(({ command, exitCode, outcome }) => (
        <p class={`did ran ${failed && "bad"}`} key={command}>
          <Mark failed={failed} refused={false} />
          <code>{command}</code>
          {outcome || exitCode === null && "started"}
        </p>
      ))}
    </>
  );
}

function isListed({ files, others, commands }: Work): boolean {
  return files + others.length + commands.length > 0;
}

function isUndone({ queryId }: Turn): boolean {
  const { undone = [], undoneQueryId = null } = changes.latest.value ?? {};
  return undone.length > 0 && undoneQueryId !== null && undoneQueryId === queryId;
}

async function undo(turn: Turn): Promise<void> {
  const { conversation } = turn;
  const found = await changes.load(conversation);
  if (found.fault !== null) throw new Error(found.fault);
  const named = someOf(
    [...found.files.map(({ path }) => path), ...found.folders.map((path) => `${path}/`)],
    MOST_NAMED,
  );
  const question = [`Undo the changes of ${named}${ofRequest(turn)}?`, keptText(found, "It keeps")];
  if (await ask(question.join(" ").trimEnd(), { verb: "Undo" }) === null) return;
  const undone = await changes.undo(conversation, found);
  const places = undonePlaces(undone);
  const done = places === "" ? "No file changed" : `Undid the changes of ${places}`;
  say([done, keptText(undone)].filter(Boolean).join(". "));
}

function ofRequest(turn: Turn): string {
  const turns = thread.turns.value;
  const at = turns.indexOf(turn);
  if (at === turns.length - 1) return "";
  const before = thread.earlier.value;
  return ` by request ${before + at + 1} of ${before + turns.length}, “${oneLine(turn.request, REQUEST_CHARS)}”`;
}

function Undone({ turn }: { readonly turn: Turn }): JSX.Element | null {
  if (!isUndone(turn)) return null;
  const { conversation } = turn;
  return (
    <p class="undone">
      <span>{`The changes of ${someOf(changes.latest.value?.undone ?? [], MOST_NAMED)} are undone.`}</span>
      <Button data-does="redo" run={() => guarded(() => redo(conversation))}>Redo</Button>
    </p>
  );
}

async function redo(conversation: string): Promise<void> {
  const redone = await changes.redo(conversation);
  const places = undonePlaces(redone) || plural(0, "file");
  say([`Reapplied the changes of ${places}`, keptText(redone)].filter(Boolean).join(". "));
}

const MANY_STEPS = 40;

const UNEXPLAINED: readonly QueryReason[] = [
  ...["max_iterations", "error_budget", "limit_cost", "limit_tokens", "limit_time", "unstored", "forked"] as const,
];

function TurnFooter({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  if (end === null) return <footer />;
  const { answer, iterations } = end;
  const resume = () => guarded(() => thread.send("Continue where you stopped."));
  return (
    <footer>
      {end.reason !== null && takesMore(end.reason)
        ? (
          <Button class="small at-end" data-does="more" run={() => guarded(() => thread.goOn(turn))}>
            {MORE_TEXT}
          </Button>
        )
        : !isGood(end) && <Button class="small at-end" run={resume}>Continue</Button>}
      <span title={usageOf(end)}>{factsOf(end)}</span>
      <CopyButton
        text={() => end.reason === "cancelled" && turn.draft.text.value || answer}
        class="quiet"
        aria-label="Copy the answer"
      />
      {iterations > 0 && <Button class="quiet" data-does="inspect" run={() => inspect(turn, 1)}>Inspect</Button>}
      <Button class="quiet" run={() => guarded(() => thread.fork(turn))}>Fork from here</Button>
      <Button class="quiet at-end" data-does="retry" run={() => guarded(() => thread.again(turn))}>Run again</Button>
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
      {"Go to step "}
      <input type="number" min={1} max={iterations} aria-label="Step number" ref={input} />
    </form>
  );
}

function factsOf({ status, reason, ms, usage, costUsd, confidence, noAnswer }: TurnEnd): string {
  const tokens = usage.input + usage.output;
  return [
    status !== "done" && !noAnswer && reason !== null && UNEXPLAINED.includes(reason) && reasonText(reason),
    ms > 0 && durationText(ms),
    tokens > 0 && `${aboutText(usage)}${plural(tokens, "token")}`,
    costUsd !== null && costUsd > 0 && `${aboutText(usage)}$${costUsd.toFixed(costUsd < .01 ? 4 : 2)}`,
    status === "done" && confidence !== null && confidence !== "high" && `confidence ${confidence}`,
  ].filter(Boolean).join(" · ");
}

function usageOf({ usage, costUsd }: TurnEnd): string {
  const tokens = `${usage.input.toLocaleString()} tokens in, ${usage.output.toLocaleString()} out`;
  return costUsd === null ? `${tokens}, price unknown` : tokens;
}
