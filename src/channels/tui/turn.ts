import type { Conversations } from "../../conversation/conversations.ts";
import { oneLine } from "../../domain/clip.ts";
import type { QueryEvent } from "../../domain/query_event.ts";
import type { QueryResult } from "../../domain/query_result.ts";
import { retryLine } from "../../domain/retry_line.ts";
import { visibleText } from "../../domain/visible_text.ts";
import { AnswerEntry } from "./answer_entry.ts";
import { boundedResult } from "./bounded_result.ts";
import { endLine } from "./end_line.ts";
import { LineEntry } from "./line_entry.ts";
import { OlderEntry } from "./older_entry.ts";
import type { Shown } from "./shown.ts";
import { newStep, type Step, type StepBlock } from "./step.ts";
import { StepEntry } from "./step_entry.ts";
import type { Transcript } from "./transcript.ts";

/** Iterations of a running query that are kept; others are in the database. */
const MOST_STEPS = 200;

/** One query while it runs: its events become entries of the transcript. */
export class Turn {
  readonly #transcript: Transcript;
  readonly #shown: () => Shown;
  readonly #conversations: () => Conversations;
  #step: StepEntry | null = null;
  /** Those that stand in the transcript with all that they say, and the entry for the ones before them. */
  #steps: StepEntry[] = [];
  #older: OlderEntry | null = null;
  #answer: AnswerEntry | null = null;
  /** What goes on now, for the line above the input. */
  phase = "waiting for the model";
  iteration = 0;
  queryId: string | null = null;

  constructor(
    transcript: Transcript,
    { shown, conversations }: { readonly shown: () => Shown; readonly conversations: () => Conversations },
  ) {
    this.#transcript = transcript;
    this.#shown = shown;
    this.#conversations = conversations;
  }

  /** Leaves so many of its iterations; those before them can be read again. */
  fold(left: number): void {
    const gone = this.#steps.slice(0, Math.max(0, this.#steps.length - left));
    const [first, last] = [gone[0], gone.at(-1)];
    if (!first || !last || this.queryId === null) return;
    const from = this.#older?.range.from ?? first.step.number - 1;
    const older = new OlderEntry(this.queryId, { from, to: last.step.number }, {
      conversations: this.#conversations(),
      shown: this.#shown,
      replace: (entry, entries) => this.#transcript.replace(entry, entries),
    });
    if (this.#older !== null) this.#transcript.replace(this.#older, []);
    for (const entry of gone) this.#transcript.replace(entry, entry === last ? [older] : []);
    this.#older = older;
    this.#steps = this.#steps.slice(gone.length);
  }

  show(event: QueryEvent): void {
    if (event.parentQueryId !== undefined) return this.#child(event);
    this.queryId = event.queryId;
    if (event.iteration !== null) this.iteration = event.iteration;
    switch (event.type) {
      case "started":
        this.phase = `waiting for ${event.model}`;
        return;
      case "thinking":
        this.phase = "thinking";
        return this.#change(event, (step) => void (step.thinking += event.delta));
      case "code":
        this.phase = `writing block ${event.block + 1}`;
        return this.#change(event, (step) => void (blockOf(step, event.block).code += event.delta));
      case "block_started":
        this.phase = `running block ${event.block + 1}`;
        return this.#change(event, (step) => void (blockOf(step, event.block).code = event.code));
      case "block_finished":
        return this.#change(event, (step) => void (blockOf(step, event.block).result = boundedResult(event.result)));
      case "host_call":
        this.phase = event.phase === "start" ? event.name : `running block ${event.block + 1}`;
        return this.#change(event, (step) => {
          const block = blockOf(step, event.block);
          block.calling = event.phase === "start" ? event.name : "";
          block.diffs.push(...event.diffs ?? []);
        });
      case "retrying":
        this.phase = oneLine(visibleText(retryLine(event)), 200);
        return;
      case "iteration_finished":
        this.phase = "waiting for the model";
        this.#change(
          event,
          (step) => Object.assign(step, { outcome: event.outcome, reason: event.reason, ms: event.ms }),
        );
        if (event.outcome === "refused") this.#dropAnswer();
        return;
      case "answer_delta":
        this.phase = "answering";
        return this.#answerEntry().append(event.delta);
      case "final":
      case "failed":
      case "cancelled":
        return this.#end(event.result);
      case "nudge":
      case "usage":
        return;
    }
  }

  #change(event: QueryEvent, change: (step: Step) => void): void {
    if (event.iteration === null) return;
    if (this.#step?.step.number !== event.iteration) {
      this.#step = new StepEntry(newStep(event.iteration), this.#shown);
      this.#transcript.add(this.#step);
      this.#steps.push(this.#step);
      if (this.#steps.length > MOST_STEPS && this.#transcript.following) this.fold(MOST_STEPS / 2);
    }
    change(this.#step.step);
    this.#step.invalidate();
  }

  #child(event: QueryEvent): void {
    const step = this.#step?.step;
    if (!step) return;
    const known = step.children.find(({ queryId }) => queryId === event.queryId);
    if (event.type === "started" && !known) {
      step.children.push({ queryId: event.queryId, task: event.request, iteration: 0, done: null });
    }
    if (known && event.iteration !== null) known.iteration = event.iteration;
    if (known && "result" in event && "answer" in event.result) {
      const { status, reason, answer } = event.result;
      known.done = { ok: status === "done", text: status === "done" ? answer : reason };
    }
    this.phase = `↳ ${oneLine(known?.task ?? "a question of its own", 40)}`;
    this.#step?.invalidate();
  }

  #answerEntry(): AnswerEntry {
    if (this.#answer === null) this.#transcript.add(this.#answer = new AnswerEntry(this.#shown));
    return this.#answer;
  }

  /** What came of an answer that does not count. */
  #dropAnswer(): void {
    if (this.#answer !== null) this.#transcript.replace(this.#answer, []);
    this.#answer = null;
  }

  #end(result: QueryResult): void {
    const { theme } = this.#shown();
    if (result.status === "interrupted") {
      this.#transcript.add(new LineEntry("cancelled", theme.warn));
    } else {
      this.#answerEntry().settle(result.answer, { plain: result.answerType === "text" });
    }
    for (const note of result.notes) this.#transcript.add(new LineEntry(note, theme.dim));
    this.#transcript.add(new LineEntry(endLine(result), result.status === "error" ? theme.bad : theme.dim));
  }
}

function blockOf(step: Step, index: number): StepBlock {
  while (step.blocks.length <= index) step.blocks.push({ code: "", calling: "", diffs: [], result: null });
  const block = step.blocks[index];
  if (!block) throw new Error(`Cannot show block ${index}: it is none`);
  return block;
}
