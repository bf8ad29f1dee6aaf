import type { Conversations } from "../../../conversation/conversations.ts";
import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import { QueryProgress, type Step } from "../../../domain/query/query_progress.ts";
import type { QueryEvent, QueryResult } from "../../../domain/query/query_schemas.ts";
import type { DisplayOptions } from "./entry.ts";
import { AnswerEntry, EndEntry } from "./message_entries.ts";
import { OlderEntry, StepEntry } from "./step_entry.ts";
import type { Transcript } from "./transcript.ts";

const MOST_STEPS = 200;
const MOST_CHANGES = 1_000;

interface TurnParts {
  readonly shown: () => DisplayOptions;
  readonly conversations: () => Conversations;
}

export class RunningTurn {
  readonly #transcript: Transcript;
  readonly #parts: TurnParts;
  #step: StepEntry | null = null;
  #steps: StepEntry[] = [];
  #older: OlderEntry | null = null;
  #answer: AnswerEntry | null = null;
  readonly progress = new QueryProgress();
  readonly changes: string[] = [];
  cancelling = false;
  ended = false;

  constructor(transcript: Transcript, parts: TurnParts) {
    this.#transcript = transcript;
    this.#parts = parts;
  }

  get phase(): string {
    const { doing, callTime } = this.progress;
    return this.cancelling ? "cancelling" : [doing, callTime].filter((text) => text !== "").join(" · ");
  }

  fold(left: number): void {
    const gone = this.#steps.slice(0, Math.max(0, this.#steps.length - left));
    const [first, last] = [gone[0], gone.at(-1)];
    const { queryId } = this.progress;
    if (!first || !last || queryId === null) return;
    const from = this.#older?.range.from ?? first.step.number - 1;
    const older = new OlderEntry(queryId, { from, to: last.step.number }, {
      conversations: this.#parts.conversations(),
      shown: this.#parts.shown,
      replace: (entry, entries) => this.#transcript.replace(entry, entries),
    });
    if (this.#older !== null) this.#transcript.replace(this.#older, []);
    for (const entry of gone) this.#transcript.replace(entry, entry === last ? [older] : []);
    this.#older = older;
    this.#steps = this.#steps.slice(gone.length);
  }

  show(event: QueryEvent): void {
    const { progress } = this;
    progress.take(event);
    if (event.type === "host_call" && this.changes.length < MOST_CHANGES) this.changes.push(...event.diffs ?? []);
    const isOwn = !isChild(event);
    if (isOwn && event.type === "answer_draft" && !event.again) return this.#answerEntry().append(event.delta);
    if (isOwn && event.type === "answer_delta") return this.#answerEntry().settle(progress.answer);
    const isCancelled = isOwn && isEnd(event) && event.result.reason === "cancelled";
    if (progress.draft === "" && progress.answer === "" && !isCancelled) this.#withdraw();
    this.#steps.find(({ step }) => step === progress.late)?.grown();
    if (progress.step !== null) this.#draw(progress.step);
    if (isOwn && isEnd(event)) this.#end(event.result);
  }

  #draw(step: Step): void {
    if (this.#step?.step !== step) {
      this.#step = new StepEntry(step, this.#parts.shown);
      this.#transcript.add(this.#step);
      this.#steps.push(this.#step);
      if (this.#steps.length > MOST_STEPS && this.#transcript.following) this.fold(MOST_STEPS / 2);
    }
    this.#step.grown();
  }

  #answerEntry(): AnswerEntry {
    if (this.#answer === null) this.#transcript.add(this.#answer = new AnswerEntry(this.#parts.shown));
    return this.#answer;
  }

  #withdraw(): void {
    if (this.#answer !== null) this.#transcript.replace(this.#answer, []);
    this.#answer = null;
  }

  #end(result: QueryResult): void {
    this.ended = true;
    this.#step?.endsWith(result.answer);
    if (result.status !== "interrupted") {
      this.#answerEntry().settle(result.answer, { plain: result.answerType === "text" });
    }
    this.#transcript.add(new EndEntry(result, this.#parts.shown));
  }
}
