import { durationText } from "../../domain/kit/text.ts";
import { BlockTally } from "../../domain/query/calls.ts";
import { type QueryProgress, type Step, type StepChild, storedChildren } from "../../domain/query/query_progress.ts";
import type { BlockResult, QueryEvent } from "../../domain/query/query_schemas.ts";
import type { Iteration } from "./api_types.ts";
import { signal } from "@preact/signals";

/** One iteration as it is drawn. */
export interface ShownStep {
  readonly number: number;
  readonly nudges: readonly string[];
  readonly thinking: string;
  readonly blocks: readonly {
    readonly code: string;
    /** False while the model is writing it. */
    readonly whole: boolean;
    readonly result: BlockResult | null;
    /** What its calls did so far. */
    readonly tally: BlockTally;
    /** What it changed in files. */
    readonly diffs: readonly string[];
  }[];
  readonly children: readonly StepChild[];
  /** What it is doing, or how it ended. */
  readonly line: string;
  readonly reason: string | null;
  /** While it runs, only the end of long texts is shown. */
  readonly live: boolean;
}

/** A stored iteration. */
export function shownStored({ iteration, thinking, blocks, traces, metadata, error }: Iteration): ShownStep {
  const ms = [...traces, ...blocks.map(({ result }) => result)].reduce((sum, one) => sum + one.ms, 0);
  const outcome = metadata.outcome ?? "running";
  return {
    number: iteration,
    thinking,
    blocks: blocks.map(({ code, result }, at) => {
      const diffs = (metadata.diffs ?? []).filter(({ block }) => block === at).map(({ diff }) => diff);
      return { code, result, whole: true, diffs, tally: BlockTally.of(result.calls) };
    }),
    ...{ nudges: [], children: storedChildren({ ...metadata }), reason: error, live: false },
    line: endOf(outcome, ms),
  };
}

function endOf(outcome: string, ms: number): string {
  return outcome === "running" ? outcome : `${outcome} · ${durationText(ms)}`;
}

/** An iteration of a query that runs: what `QueryProgress` knows about it, and the line about what it is doing. */
export class LiveStep {
  /** Counts changes: the step itself is changed in place. */
  readonly changes = signal(0);
  readonly #step: Step;
  readonly #nudges: string[] = [];
  readonly #whole = new Set<number>();
  #line = "";
  #waits = false;

  constructor(step: Step) {
    this.#step = step;
  }

  get number(): number {
    return this.#step.number;
  }

  get shown(): ShownStep {
    const { number, thinking, children, reason } = this.#step;
    const blocks = this.#step.blocks.map(({ code, result, diffs, tally }, at) => {
      return { code, result, diffs, tally, whole: this.#whole.has(at) };
    });
    return { number, nudges: this.#nudges, thinking, blocks, children, line: this.#line, reason, live: true };
  }

  /** An event that `progress` has already taken. */
  take(event: QueryEvent, progress: QueryProgress): void {
    this.changes.value++;
    if (event.parentQueryId !== undefined) return;
    const waits = event.type === "retrying" || event.type === "waiting";
    if (waits) this.#line = progress.doing;
    else if (this.#waits) this.#line = "";
    this.#waits = waits;
    if (event.type === "block_started" || event.type === "block_finished") this.#whole.add(event.block);
    if (event.type === "block_finished") this.#line = "";
    if (event.type === "host_call" && event.phase === "start") this.#line = `${progress.doing} …`;
    if (event.type === "nudge") this.#nudges.push(event.lines.join("\n").replaceAll("[system_nudge] ", ""));
    if (event.type === "iteration_finished") this.#line = endOf(event.outcome, event.ms);
  }
}
