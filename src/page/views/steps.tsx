import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { durationText } from "../../domain/kit/text.ts";
import type { BlockTally } from "../../domain/query/calls.ts";
import type { StepChild } from "../../domain/query/query_progress.ts";
import type { BlockResult } from "../../domain/query/query_schemas.ts";
import { inspect } from "../panels/inspector.tsx";
import { Button, Copyable } from "../parts/controls.tsx";
import { coloured, endOfText, LongText, Pre, ShownDiff } from "../parts/texts.tsx";
import { plural } from "../parts/words.ts";
import { drawn, elements } from "../store/elements.ts";
import { guarded } from "../store/entry.ts";
import { thread } from "../store/thread.ts";
import {
  BOX_STEPS,
  type LiveStep,
  type ShownStep,
  shownStored,
  type StepBox,
  type Turn,
} from "../store/turn_and_steps.ts";

/** The steps of a query. Only those near the viewport are on the page; the others are empty boxes of their height,
 * filled from the server when they come near. */
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

/** Drawn anew with each event of its step, and of no other. */
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

/** Scrolls a step into view. */
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

/** One iteration: the model's thinking, its blocks and their results. */
function StepView({ step, turn }: { readonly step: ShownStep; readonly turn: Turn }): JSX.Element {
  const { number, nudges, thinking, blocks, children, line, reason, live } = step;
  const fork = () => guarded(() => thread.fork(turn, number));
  return (
    <section class="step" data-step={number}>
      <header>
        <b>{`Step ${number}`}</b>
        <span class="line">{line}</span>
        <Button class="quiet" run={() => inspect(turn, number)} aria-label={`inspect step ${number}`}>inspect</Button>
        <Button class="quiet" run={fork} aria-label={`fork here, after step ${number}`}>fork here</Button>
      </header>
      {nudges.map((text) => <p class="nudge">{`Nudge: ${text}`}</p>)}
      {thinking !== "" && <p class="thinking">{live ? endOfText(thinking) : <LongText text={thinking} />}</p>}
      {blocks.map((block, at) => <Block key={at} number={at + 1} {...block} />)}
      {children.map((child) => <p class="child">{childText(child)}</p>)}
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

function Block({ number, code, whole, result, diffs, tally }: ShownStep["blocks"][number] & {
  readonly number: number;
}): JSX.Element {
  return (
    <>
      <Copyable what={`block ${number}`}>
        <pre tabIndex={0} aria-label={`Code of block ${number}`}>
          <code>{whole ? <LongText text={code} show={coloured} /> : endOfText(code)}</code>
        </pre>
      </Copyable>
      {diffs.map((diff, at) => <ShownDiff key={at} label={`Change of a file by block ${number}`} text={diff} />)}
      {tally.text !== "" && <Calls tally={tally} />}
      {result && <Result result={result} marked={!result.ok || !tally.failed} />}
    </>
  );
}

/** What the calls of a block did, and the end of what the failed ones printed. */
function Calls({ tally: { text, output, failed } }: { readonly tally: BlockTally }): JSX.Element {
  return (
    <div class={failed ? "result bad calls" : "result calls"}>
      <span class="mark" role="img" aria-label={failed ? "failed" : "succeeded"}>{failed ? "✗" : "✓"}</span>
      <Pre label="Calls" text={output === "" ? text : `${text}\n${output}`} />
    </div>
  );
}

/** `marked`: whether it has a mark of its own. Beside a call that failed, a value has none. */
function Result({ result, marked }: { readonly result: BlockResult; readonly marked: boolean }): JSX.Element {
  const { ok, preview, stdout, stderr, error, ms, outcome, dropped } = result;
  const shown = error ? `${error.name}: ${error.message}\n${error.excerpt}` : preview;
  const left = dropped > 0 ? `… ${dropped} more characters of output were dropped` : "";
  const text = [stdout.trimEnd(), shown, stderr, left].filter((part) => part.trim() !== "").join("\n");
  return (
    <div class={ok ? "result" : "result bad"}>
      {marked
        ? <span class="mark" role="img" aria-label={ok ? "succeeded" : outcome}>{ok ? "✓" : "✗"}</span>
        : <span class="mark" />}
      <Pre label="Result" text={text || "(no value)"} />
      <span class="time">{durationText(ms)}</span>
    </div>
  );
}
