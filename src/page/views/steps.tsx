import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { durationText } from "../../domain/kit/text.ts";
import type { CallLine } from "../../domain/query/host_call.ts";
import { beginsWithPlan } from "../../domain/query/plan.ts";
import { blockFailure, blockLine, codeLine, onlyAnswers, type StepChild } from "../../domain/query/query_progress.ts";
import type { BlockResult } from "../../domain/query/query_schemas.ts";
import { diffCounts } from "../../markdown/parse_diff.ts";
import { inspect } from "../panels/inspector.tsx";
import { showVariable } from "../panels/variables.tsx";
import { Button, Copyable } from "../parts/controls.tsx";
import { codeInText, coloured, countsOf, Diffs, endOfText, LongText, plural, Pre } from "../parts/texts.tsx";
import { drawn, elements, guarded } from "../store/state.ts";
import { thread } from "../store/thread.ts";
import { BOX_STEPS, type LiveStep, type ShownStep, shownStored, type StepBox, type Turn } from "../store/turn.ts";

/** A request may have many steps, so older steps are in boxes, which can be empty far from the viewport. */
export function Steps({ turn }: { readonly turn: Turn }): JSX.Element {
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

/** Reading `changes` makes Preact draw the step again after events of this step. */
function Live({ live, turn }: { readonly live: LiveStep; readonly turn: Turn }): JSX.Element {
  void live.changes.value;
  return <StepPart step={live.shown} turn={turn} />;
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
      {items?.map((item) => <StepPart key={item.iteration} step={shownStored(item)} turn={turn} />)}
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
  for (const fold of node?.querySelectorAll("details") ?? []) fold.open = true;
  node?.scrollIntoView({ block: "start" });
  node?.querySelector("button")?.focus({ preventScroll: true });
}

function StepPart({ step, turn }: { readonly step: ShownStep; readonly turn: Turn }): JSX.Element {
  return (
    <div>
      <Meanwhile messages={turn.steered.value.filter((message) => message.step === step.number)} />
      <StepView step={step} turn={turn} />
    </div>
  );
}

export function Meanwhile({ messages }: { readonly messages: Turn["steered"]["value"] }): JSX.Element {
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

function StepView({ step, turn }: { readonly step: ShownStep; readonly turn: Turn }): JSX.Element {
  const { number, thinking, blocks, children, asked, line, reason, live, ended } = step;
  const fork = () => guarded(() => thread.fork(turn, number));
  const isEmpty = thinking === "" && line === "" && blocks.length + children.length + asked.length === 0 && !reason;
  return (
    <section class="step" data-step={number}>
      <b>
        <span class="unseen">Step</span>
        {number}
      </b>
      {ended && (
        <div class="acts">
          <Button class="quiet" run={() => inspect(turn, number)} aria-label={`Inspect step ${number}`}>Inspect</Button>
          <Button class="quiet" run={fork} aria-label={`Fork here, after step ${number}`}>Fork here</Button>
        </div>
      )}
      {thinking !== "" && (
        <p class="thinking">
          {live ? codeInText(endOfText(thinking)) : <LongText text={thinking} show={codeInText} />}
        </p>
      )}
      {asked.map((text) => <p class="said">{text}</p>)}
      {line !== "" && <p class="line">{line}</p>}
      {live && isEmpty && <p class="line">{`${turn.doing.value || "working"} …`}</p>}
      {blocks.map((block, at) => <Block key={at} number={at + 1} block={block} turn={turn} />)}
      {children.map((child) => <p class="said">{childText(child)}</p>)}
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
  readonly turn: Turn;
}

function Block({ number, block, turn }: BlockProps): JSX.Element | null {
  const { code, whole, result, calling, printing, tally, diffs } = block;
  const shownCode = (
    <Copyable what={`block ${number}`}>
      <pre tabIndex={0} aria-label={`Code of block ${number}`}>
        <code>{whole ? <LongText text={code} show={coloured} /> : endOfText(code)}</code>
      </pre>
    </Copyable>
  );
  if (result !== null) {
    return onlyAnswers({ code, tally, result }) ? null : <Ended {...block} {...{ result, turn, shownCode }} />;
  }
  const now = calling === "" && beginsWithPlan(code) ? "planning the tasks" : calling;
  if (now === "" && tally.text === "") return shownCode;
  return (
    <>
      <details class="result">
        <summary>
          <Lines lines={tally.linesWithin(Infinity)} />
          {now !== "" && <span class="now">{`${now} …`}</span>}
        </summary>
        {shownCode}
      </details>
      <Output text={tally.output} />
      {printing !== "" && <Pre class="printing" label="Output so far" text={printing} />}
      <Diffs diffs={diffs} />
    </>
  );
}

const CODE_CHARS = 80;
const NARROW_PX = 480, NARROW_CHARS = 40;

interface EndedProps extends Pick<ShownStep["blocks"][number], "code" | "tally" | "diffs"> {
  readonly result: BlockResult;
  readonly turn: Turn;
  readonly shownCode: JSX.Element;
}

function Ended({ code, tally, diffs, result, turn, shownCode }: EndedProps): JSX.Element {
  const { lines, isCode, refused, threw } = blockLine(
    { code, tally, result },
    innerWidth < NARROW_PX ? NARROW_CHARS : Infinity,
  );
  const told = resultText(result, diffs.length > 0);
  const isShort = result.ok && SHORT_VALUE.test(told);
  const isOver = turn.end.value !== null;
  return (
    <>
      <details class="result">
        <summary>
          <Lines lines={lines} code={isCode && coloured(codeLine(code, CODE_CHARS))}>
            {diffs.length > 0 && ` ${diffCounts(countsOf(diffs))}`}
            {isShort && <i class="value">{`→ ${told}`}</i>}
          </Lines>
          <span class="time">{durationText(result.ms)}</span>
        </summary>
        {told !== "" && !isShort && <Pre label="Result" text={told} />}
        {shownCode}
        {isOver && <Diffs diffs={diffs} />}
        {result.ok && <Names names={result.defined} turn={turn} />}
      </details>
      {!result.ok && !refused && (
        <p class="reason">
          <LongText text={`${threw ? "✗ " : ""}${blockFailure(result)}`} />
        </p>
      )}
      <Output text={tally.output} />
      {!isOver && <Diffs diffs={diffs} />}
    </>
  );
}

const KINDS = { ok: "", refused: "refused", failed: "bad" } as const;

function Lines({ lines, code, children }: {
  readonly lines: readonly CallLine[];
  readonly code?: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <>
      {lines.map(({ state, text }, at) => [
        <Mark failed={state === "failed"} refused={state === "refused"} />,
        <span class={KINDS[state]}>
          {code || text}
          {at === 0 && children}
        </span>,
      ])}
    </>
  );
}

export function Mark({ failed, refused }: { readonly failed: boolean; readonly refused: boolean }): JSX.Element {
  const [mark, word] = failed ? ["✗", "failed"] : refused ? ["–", "refused"] : ["✓", "succeeded"];
  return <span class={`mark ${failed ? "bad" : refused ? "refused" : ""}`} role="img" aria-label={word}>{mark}</span>;
}

function Output({ text }: { readonly text: string }): JSX.Element | null {
  return text === "" ? null : <Pre class="printed" label="Output of failed calls" text={text.trimEnd()} />;
}

const MOST_NAMES = 8;

function Names({ names, turn: { conversation } }: {
  readonly names: readonly string[];
  readonly turn: Turn;
}): JSX.Element | null {
  if (names.length === 0) return null;
  return (
    <p class="names">
      {"Variables: "}
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

const DIFF = /(?:"""\n)?--- .*\n\+\+\+ .*\n(?:@@ .*(?:\n[ +\\-].*)*\n?)+(?:"""|)/g;

const QUOTED = /^"""\n([^]*)\n"""$/;
const ONLY_CHANGE = /^(?:[\s[\]{},]|path: "[^"\n]*"|bytes: [\d_]+|(?:diff: )?\(see the change\))*$/;
/** The model reads the whole object of a command's result, but the page shows only the output. */
const OF_COMMAND = /^\{\s+code: (?:\d+|null),\s+signal: /;
const OUTPUTS = /(?<=[\s{])std(?:out|err): (?:"""\n([^]*?)\n"""|("(?:[^"\\\n]|\\.)*"))/g;
const SHORT_VALUE = /^[^[{\n].{0,99}$/;

function resultText({ preview, stdout, stderr, error, dropped }: BlockResult, drawn: boolean): string {
  const shown = error ? error.excerpt : OF_COMMAND.test(preview) ? outputIn(preview) : preview;
  const left = dropped > 0 ? `… ${dropped} more characters of output were dropped` : "";
  const whole = [stdout.trimEnd(), shown, stderr, left].filter((part) => part.trim() !== "").join("\n");
  const text = drawn ? whole.replace(DIFF, "(see the change)") : whole;
  return drawn && ONLY_CHANGE.test(text) ? "" : text.replace(QUOTED, "$1");
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
