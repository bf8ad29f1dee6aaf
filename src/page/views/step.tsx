import { durationText } from "../../domain/kit/text.ts";
import type { BlockTally } from "../../domain/query/calls.ts";
import type { StepChild } from "../../domain/query/query_progress.ts";
import type { BlockResult } from "../../domain/query/query_schemas.ts";
import { inspect } from "../panels/inspector.tsx";
import { Button } from "../parts/button.tsx";
import { coloured } from "../parts/coloured.tsx";
import { Copyable } from "../parts/copyable.tsx";
import { LongText } from "../parts/long_text.tsx";
import { Pre } from "../parts/pre.tsx";
import { endOfText } from "../parts/shown_chars.ts";
import { ShownDiff } from "../parts/shown_diff.tsx";
import { guarded } from "../store/entry.ts";
import type { ShownStep } from "../store/shown_step.ts";
import { thread } from "../store/thread_shown.ts";
import type { Turn } from "../store/turn.ts";
import { plural } from "../text/plural.ts";
import type { JSX } from "preact";

/** One iteration: the model's thinking, its blocks and their results. */
export function StepView({ step, turn }: { readonly step: ShownStep; readonly turn: Turn }): JSX.Element {
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
