import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { durationText, oneLine } from "../../domain/kit/text.ts";
import { aboutText } from "../../domain/query/model_call.ts";
import type { BlockTally } from "../../domain/query/calls.ts";
import { MORE_TEXT, PLANNED_TEXT, type QueryReason, takesMore } from "../../domain/query/outcomes.ts";
import { beginsWithPlan, planLine, taskLine } from "../../domain/query/plan.ts";
import { blockFailure, blockLine, type StepChild } from "../../domain/query/query_progress.ts";
import type { BlockResult } from "../../domain/query/query_schemas.ts";
import { keptText } from "../../domain/undo.ts";
import { diffCounts, type DiffFile, parseDiff } from "../../markdown/parse_diff.ts";
import type { MarkdownBlock } from "../../markdown/tree.ts";
import { ask } from "../panels/dialogs.tsx";
import { inspect } from "../panels/inspector.tsx";
import { showVariable } from "../panels/variables.tsx";
import { Button, Copyable, CopyButton } from "../parts/controls.tsx";
import { coloured, DiffView, endOfText, LongText, Markdown, plural, Pre } from "../parts/texts.tsx";
import type { TurnEnd } from "../store/api.ts";
import { choices, drawn, elements, guarded, say } from "../store/state.ts";
import { changes, thread } from "../store/thread.ts";
import {
  BOX_STEPS,
  type LiveStep,
  type ShownStep,
  shownStored,
  type StepBox,
  storedSteps,
  type Turn,
} from "../store/turn.ts";
import { Question } from "./question.tsx";

/** Shows a request and its result. The user can run the last request again, or continue it if it was interrupted. */
export function TurnView({ turn, last }: { readonly turn: Turn; readonly last: boolean }): JSX.Element {
  const kinds = ["turn", turn.running.value && "running", last && "last"];
  return (
    <article class={kinds.filter(Boolean).join(" ")} ref={(node) => void (turn.node = node)}>
      <h2 class="unseen">Request</h2>
      <div class="asked">
        <LongText text={turn.request} />
        {turn.only && <small>{turn.only}</small>}
      </div>
      <Meanwhile messages={turn.steered.value.filter(({ step }) => step !== null)} />
      <div class="done">
        <Work turn={turn} />
        <Meanwhile messages={turn.steered.value.filter(({ step }) => step === null)} />
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
      hidden={end !== null && storedSteps(end) === 0}
      onToggle={({ currentTarget }) => turn.showSteps(currentTarget.open)}
    >
      <summary>{stepsText(turn)}</summary>
      <Steps turn={turn} />
    </details>
  );
}

function stepsText(turn: Turn): string {
  const end = turn.end.value;
  if (end === null) return turn.count.value === 0 ? "Working…" : plural(turn.count.value, "step");
  return plural(end.iterations, end.reason === "process_lost" ? "finished step" : "step");
}

function Plan({ turn }: { readonly turn: Turn }): JSX.Element | null {
  const items = turn.plan.value;
  if (items.length === 0) return null;
  const done = items.filter(({ state }) => state === "done").length;
  return (
    <details class="plan">
      <summary>{`Tasks: ${turn.end.value === null ? planLine(items) : `${done} of ${items.length} done`}`}</summary>
      <ul>
        {items.map((item, at) => <li key={at} class={item.state}>{taskLine(item)}</li>)}
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
  const work = saidByChanges(turn) ? "" : end.work?.text ?? "";
  // The last note is the reason of an unstored answer, which has its own line.
  const others = notes.slice(0, reason === "unstored" ? -1 : undefined).filter((note) => note !== end.work?.text);
  if (answer === "") return <div />;
  return (
    <div class={kinds.filter(Boolean).join(" ")}>
      {reason === "cancelled" && <Draft turn={turn} />}
      {answerTree
        ? <Markdown blocks={answerTree} />
        : turn.draft.drawn.value !== null && reason !== "cancelled"
        ? <Draft turn={turn} />
        : (
          <p class="plain">
            <LongText text={answer} />
          </p>
        )}
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
      <Button class="small at-end" run={() => guarded(carryOut)}>Carry out the plan</Button>
    </p>
  );
}

function Draft({ turn: { draft, isAccepted } }: { readonly turn: Turn }): JSX.Element | null {
  const [text, drawn] = [draft.text.value, draft.drawn.value];
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

/** Draws finished blocks once, because they do not change. */
function Finished({ tree }: { readonly tree: readonly MarkdownBlock[] }): JSX.Element {
  return useMemo(() => <Markdown blocks={tree} />, [tree]);
}

/** Returns false if the text is the reason for a missing answer. */
function isGood({ status, reason, noAnswer }: TurnEnd): boolean {
  return !noAnswer && (status === "done" || reason === "max_iterations" || reason === "error_budget");
}

const MOST_NAMED = 8, REQUEST_CHARS = 60;
/** The page folds a change with more lines. */
const SHORT_LINES = 12;

/** Shows the files that a query changed. If these changes are the latest, offers to undo them. */
function Changes({ turn }: { readonly turn: Turn }): JSX.Element | null {
  const value = changes.of(turn);
  const diffs = value?.files.map(({ diff }) => diff) ?? turn.diffs.value;
  useLayoutEffect(() => {
    if (value !== null) turn.diffs.value = diffs; // After a later change, the undo is gone, but the diff stays.
    thread.scroller?.keepEnd();
  }, [value]);
  const said = saidByChanges(turn) ? turn.end.value?.work?.text : null;
  if (value === null && !said) return null;
  const counts = countsOf(diffs ?? []);
  const isShort = diffs !== null && counts.lines <= SHORT_LINES && !isUndone(turn);
  return (
    <div class="changes">
      <details
        open={isShort}
        onToggle={({ currentTarget }) => currentTarget.open && void guarded(() => turn.loadDiffs())}
      >
        <summary>{said ?? `${plural(value?.files.length ?? 0, "file")} changed ${diffCounts(counts)}`}</summary>
        {diffs?.map((diff, at) => <DiffView key={at} text={diff} />)}
      </details>
      {value !== null && value.kept.length > 0 && <p>{keptText(value, "Undo keeps")}</p>}
      {value !== null && <Button aria-label="Undo these changes" run={() => guarded(() => undo(turn))}>Undo</Button>}
    </div>
  );
}

function countsOf(diffs: readonly string[]): Readonly<Record<"added" | "removed" | "lines", number>> {
  const read = diffs.flatMap(parseDiff);
  const sum = (count: (file: DiffFile) => number): number => read.reduce((all, file) => all + count(file), 0);
  return {
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
    lines: sum((one) => one.lines.length),
  };
}

/** Whether the line above the changes describes all that the turn did. An undo may revert only a part of it. */
function saidByChanges(turn: Turn): boolean {
  const value = changes.of(turn);
  const { work } = turn.end.value ?? {};
  if (work === undefined || work.text === "" || work.files === 0) return false;
  if (value === null) return true;
  if (work.files !== value.files.length) return false;
  const { added, removed } = countsOf(value.files.map(({ diff }) => diff));
  return added === work.added && removed === work.removed;
}

function isUndone({ queryId }: Turn): boolean {
  const { undone = [], undoneQueryId = null } = changes.latest.value ?? {};
  return undone.length > 0 && undoneQueryId !== null && undoneQueryId === queryId;
}

async function undo(turn: Turn): Promise<void> {
  const { conversation } = turn;
  // Loads the changes again, because other clients may have changed files meanwhile.
  const found = await changes.load(conversation);
  if (found.fault !== null) throw new Error(found.fault);
  const named = namedFiles(found.files.map(({ path }) => path));
  const question = [`Undo the changes of ${named}${ofRequest(turn)}?`, keptText(found, "It keeps")];
  if (await ask(question.join(" ").trimEnd(), { verb: "Undo" }) === null) return;
  const undone = await changes.undo(conversation, found);
  const done = undone.files.length === 0
    ? "No file changed: all are already as before"
    : `Undid the changes of ${plural(undone.files.length, "file")}`;
  say([done, keptText(undone)].filter(Boolean).join(". "));
}

/** Names the request of a turn. Returns "" for the last turn. */
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
      <span>{`The changes of ${namedFiles(changes.latest.value?.undone ?? [])} are undone.`}</span>
      <Button run={() => guarded(() => redo(conversation))}>Redo</Button>
    </p>
  );
}

async function redo(conversation: string): Promise<void> {
  const redone = await changes.redo(conversation);
  say([`Reapplied the changes of ${plural(redone.files.length, "file")}`, keptText(redone)].filter(Boolean).join(". "));
}

function namedFiles(paths: readonly string[]): string {
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  return `${paths.slice(0, MOST_NAMED).join(", ")}${more}`;
}

/** Above this number of steps, the page has a field that finds a step by its number. */
const MANY_STEPS = 40;

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

function TurnFooter({ turn }: { readonly turn: Turn }): JSX.Element {
  const end = turn.end.value;
  if (end === null) return <footer />;
  const { answer, iterations } = end;
  const resume = () => guarded(() => thread.send("Continue where you stopped."));
  return (
    <footer>
      <span>{factsOf(end)}</span>
      <CopyButton
        text={() => end.reason === "cancelled" && turn.draft.text.value || answer}
        class="quiet"
        aria-label="copy the answer"
      />
      {iterations > 0 && <Button class="quiet" run={() => inspect(turn, 1)}>inspect</Button>}
      <Button class="quiet" run={() => guarded(() => thread.fork(turn))}>fork from here</Button>
      <Button class="quiet at-end" run={() => guarded(() => thread.again(turn))}>run again</Button>
      {end.reason !== null && takesMore(end.reason)
        ? <Button class="small at-end" run={() => guarded(() => thread.goOn(turn))}>{MORE_TEXT}</Button>
        : !isGood(end) && <Button class="small at-end" run={resume}>continue</Button>}
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

function factsOf({ status, reason, ms, usage, costUsd, confidence, iterations }: TurnEnd): string {
  const parts = ms > 0 ? [durationText(ms)] : [];
  if (usage.input + usage.output > 0) {
    parts.push(`${aboutText(usage)}${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out tokens`);
    if (costUsd === null) parts.push("price unknown");
  } else if (iterations > 0) parts.push("tokens not counted");
  if (costUsd !== null && costUsd > 0) parts.push(`${aboutText(usage)}$${costUsd.toFixed(4)}`);
  if (status !== "done") parts.unshift((reason && WHY[reason]) ?? reason ?? status);
  else if (confidence !== null && confidence !== "high") parts.push(`confidence ${confidence}`);
  return parts.join(" · ");
}

/** Shows the steps of a query. Ended steps far from the viewport are empty boxes of their height. When a box comes near
 * the viewport, the page fetches its steps. */
function Steps({ turn }: { readonly turn: Turn }): JSX.Element {
  const live = useRef<HTMLDivElement>(null);
  const count = turn.live.value.length;
  useLayoutEffect(() => {
    if (count <= 2 * BOX_STEPS + 5) return;
    const nodes = [...live.current?.children ?? []].slice(0, BOX_STEPS) as HTMLElement[];
    turn.putAway(nodes.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0));
  }, [count]);
  return (
    <div class="steps">
      <div>{turn.boxes.value.map((box) => <Box key={box.from} box={box} turn={turn} />)}</div>
      <div ref={live}>{turn.live.value.map((one) => <Live key={one.number} live={one} turn={turn} />)}</div>
    </div>
  );
}

/** Shows a live step. Draws the step again only after events of this step. */
function Live({ live, turn }: { readonly live: LiveStep; readonly turn: Turn }): JSX.Element {
  void live.changes.value;
  return <StepView step={live.shown} turn={turn} />;
}

function Box({ box, turn }: { readonly box: StepBox; readonly turn: Turn }): JSX.Element {
  const node = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = node;
    if (current === null) return;
    const seen = new IntersectionObserver((entries) => {
      if (entries.at(-1)?.isIntersecting) void box.fill();
      else if (!current.contains(document.activeElement)) box.leave(current.offsetHeight);
    }, { root: elements.thread.current, rootMargin: "1200px 0px" });
    seen.observe(current);
    return () => seen.disconnect();
  }, [box]);
  const items = box.items.value;
  return (
    <div class="page" data-from={box.from} ref={node} style={{ minHeight: items ? "0" : `${box.height.value}px` }}>
      {items?.map((item) => <StepView key={item.iteration} step={shownStored(item)} turn={turn} />)}
      {box.fault.value !== "" && <p class="reason">{box.fault.value}</p>}
    </div>
  );
}

export async function revealStep(turn: Turn, number: number): Promise<void> {
  turn.showSteps(true);
  await drawn();
  const from = Math.floor((number - 1) / BOX_STEPS) * BOX_STEPS;
  const box = turn.boxes.value.find((one) => one.from === from);
  if (box) {
    turn.node?.querySelector(`[data-from="${from}"]`)?.scrollIntoView({ block: "start" });
    await box.fill();
    await drawn();
  }
  const node = turn.node?.querySelector(`[data-step="${number}"]`);
  node?.scrollIntoView({ block: "start" });
  node?.querySelector("button")?.focus({ preventScroll: true });
}

function StepView({ step, turn }: { readonly step: ShownStep; readonly turn: Turn }): JSX.Element {
  const { number, thinking, blocks, children, asked, line, reason, live, ended } = step;
  const fork = () => guarded(() => thread.fork(turn, number));
  return (
    <section class="step" data-step={number}>
      <header>
        <b>{`Step ${number}`}</b>
        <span class="line">{line}</span>
        {ended && (
          <>
            <Button class="quiet" run={() => inspect(turn, number)} aria-label={`inspect step ${number}`}>
              inspect
            </Button>
            <Button class="quiet" run={fork} aria-label={`fork here, after step ${number}`}>fork here</Button>
          </>
        )}
      </header>
      {thinking !== "" && <p class="thinking">{live ? endOfText(thinking) : <LongText text={thinking} />}</p>}
      {blocks.map((block, at) => <Block key={at} number={at + 1} block={block} step={step} turn={turn} />)}
      {children.map((child) => <p class="child">{childText(child)}</p>)}
      {asked.map((text) => <p class="said">{text}</p>)}
      {reason !== null && reason !== "" && (
        <p class="reason">
          <LongText text={reason} />
        </p>
      )}
    </section>
  );
}

function childText({ task, iteration, done }: StepChild): string {
  if (done === null) return `↳ ${task}`;
  return `↳ ${task} · ${done.ok ? "done" : done.text} after ${plural(iteration, "step")}`;
}

interface BlockProps {
  readonly number: number;
  readonly block: ShownStep["blocks"][number];
  readonly step: ShownStep;
  readonly turn: Turn;
}

/** Shows a block with its calls, changes and result. The calls describe the work better than the code, so the code is
 * folded below them. */
function Block({ number, block, step: { ended }, turn }: BlockProps): JSX.Element {
  const { code, whole, result, calling, printing, diffs, tally } = block;
  const { text, isCode, refused } = blockLine({ code, tally, result });
  const now = result !== null ? "" : calling === "" && beginsWithPlan(code) ? "planning the tasks" : calling;
  const isFolded = now !== "" || !isCode;
  const isPlan = result !== null && !isCode && tally.text === "";
  const told = !isCode && !isPlan && !refused && result?.ok === true;
  const shownCode = (
    <Copyable what={`block ${number}`}>
      <pre tabIndex={0} aria-label={`Code of block ${number}`}>
        <code>{whole ? <LongText text={code} show={coloured} /> : endOfText(code)}</code>
      </pre>
    </Copyable>
  );
  return (
    <>
      {!isFolded && shownCode}
      {!isCode && <Calls tally={tally} text={text} ms={told ? result.ms : null} />}
      {now !== "" && <p class="now">{`${now} …`}</p>}
      {diffs.map((diff, at) => <DiffView key={at} text={diff} />)}
      {result === null && printing !== "" && <Pre class="printing" label="Output so far" text={printing} />}
      {result && !refused && !isPlan && !told && <Result result={result} drawn={diffs.length > 0} />}
      <div class="more-of">
        {told && <CallsResult result={result} drawn={diffs.length > 0} />}
        {isFolded && (
          <details class="code">
            <summary>{plural(code.trimEnd().split("\n").length, "line")} of code</summary>
            {shownCode}
          </details>
        )}
        {ended && result?.ok && <Names names={result.defined} turn={turn} />}
      </div>
    </>
  );
}

const MOST_NAMES = 8;

/** Lists the variables that a block defined. The variables have the whole values and outputs of the block. */
function Names({ names, turn: { conversation } }: {
  readonly names: readonly string[];
  readonly turn: Turn;
}): JSX.Element | null {
  if (names.length === 0) return null;
  return (
    <p class="names">
      {"sets "}
      {names.slice(0, MOST_NAMES).map((name) => (
        <Button
          class="quiet"
          aria-label={`variable ${name}`}
          run={() => showVariable(conversation, name)}
        >
          {name}
        </Button>
      ))}
      {names.length > MOST_NAMES && ` and ${names.length - MOST_NAMES} more`}
    </p>
  );
}

function Calls({ tally: { output, failed, refused }, text, ms }: {
  readonly tally: BlockTally;
  readonly text: string;
  readonly ms: number | null;
}): JSX.Element {
  const [mark, word] = failed ? ["✗", "failed"] : refused ? ["–", "refused"] : ["✓", "succeeded"];
  const kind = failed ? "bad" : refused ? "refused" : "";
  return (
    <div class={`result calls ${kind}`}>
      <span class="mark" role="img" aria-label={word}>{mark}</span>
      <div>
        <Pre label="Calls" text={text} />
        {output !== "" && <Pre class="printed" label="Output of failed calls" text={output.trimEnd()} />}
      </div>
      {ms !== null && <span class="time">{durationText(ms)}</span>}
    </div>
  );
}

const DIFF = /(?:"""\n)?--- .*\n\+\+\+ .*\n(?:@@ .*(?:\n[ +\\-].*)*\n?)+(?:"""|)/g;

/** Matches a text of several lines, which Vis quotes for the model. */
const QUOTED = /^"""\n([^]*)\n"""$/;
/** Matches the result of an edit whose change the page draws. The other keys of the result repeat the change. */
const ONLY_CHANGE = /^(?:[\s[\]{},]|path: "[^"\n]*"|bytes: [\d_]+|(?:diff: )?\(see above\))*$/;
/** Matches the result of a command. The model reads the whole object; the page shows only its output. */
const OF_COMMAND = /^\{\s+code: (?:\d+|null),\s+signal: /;
const OUTPUTS = /(?<=[\s{])std(?:out|err): (?:"""\n([^]*?)\n"""|("(?:[^"\\\n]|\\.)*"))/g;
/** The page folds a result with more lines. */
const FOLDED_LINES = 8;
/** Matches a value that the page shows beside its calls. The page folds other values. */
const SHORT_VALUE = /^[^[{\n].{0,99}$/;

interface ResultText {
  readonly text: string;
  readonly isOutput: boolean;
}

/** With `drawn`, the page has drawn the changes above. */
function resultText(result: BlockResult, drawn: boolean): ResultText {
  const { preview, stdout, stderr, error, dropped } = result;
  const isOutput = error === null && OF_COMMAND.test(preview);
  const shown = error ? `${blockFailure(result)}\n${error.excerpt}` : isOutput ? outputIn(preview) : preview;
  const left = dropped > 0 ? `… ${dropped} more characters of output were dropped` : "";
  const whole = [stdout.trimEnd(), shown, stderr, left].filter((part) => part.trim() !== "").join("\n");
  return { text: (drawn ? whole.replace(DIFF, "(see above)") : whole).replace(QUOTED, "$1"), isOutput };
}

function outputIn(preview: string): string {
  const parts = [...preview.matchAll(OUTPUTS)].map(([, lines, quoted = '""']) => lines ?? textIn(quoted));
  return parts.filter((part) => part !== "").join("\n").trimEnd();
}

function textIn(quoted: string): string {
  try {
    return JSON.parse(quoted);
  } catch {
    return quoted; // The quotes of the sandbox allow more escapes than JSON.
  }
}

/** Shows the result of a block without calls, or its error. */
function Result({ result, drawn }: { readonly result: BlockResult; readonly drawn: boolean }): JSX.Element {
  const { ok, ms, outcome } = result;
  const told = resultText(result, drawn);
  return (
    <div class={ok ? "result" : "result bad"}>
      <span class="mark" role="img" aria-label={ok ? "succeeded" : outcome}>{ok ? "✓" : "✗"}</span>
      {ok && linesOf(told) > FOLDED_LINES
        ? <FoldedResult told={told} />
        : <Pre label="Result" text={told.text || "(no value)"} />}
      <span class="time">{durationText(ms)}</span>
    </div>
  );
}

/** Shows the value of a block whose calls describe the work: a short value at once, and a longer one folded. */
function CallsResult({ result, drawn }: { readonly result: BlockResult; readonly drawn: boolean }): JSX.Element | null {
  const told = resultText(result, drawn);
  if (told.text === "" || drawn && ONLY_CHANGE.test(told.text)) return null;
  return SHORT_VALUE.test(told.text) ? <span class="value">{`→ ${told.text}`}</span> : <FoldedResult told={told} />;
}

function FoldedResult({ told }: { readonly told: ResultText }): JSX.Element {
  return (
    <details class="code">
      <summary>{`${plural(linesOf(told), "line")} of ${told.isOutput ? "output" : "result"}`}</summary>
      <Pre label="Result" text={told.text} />
    </details>
  );
}

function linesOf({ text }: ResultText): number {
  return text.split("\n").length;
}
