import { QueryProgress } from "../../../domain/query/query_progress.ts";
import type { PlanItem, QueryEvent } from "../../../domain/query/query_schemas.ts";
import type { DisplayOptions, TranscriptEntry } from "./entry.ts";
import { AnswerEntry } from "./message_entries.ts";
import { StepEntry } from "./step_entry.ts";
import type { Transcript } from "./transcript.ts";

/** `now` represents the running step until the other process shares the events of the step. */
export interface StoredTurn {
  readonly ended: number;
  readonly now: readonly TranscriptEntry[];
}

export class WatchedTurn {
  readonly #transcript: Transcript;
  readonly #shown: () => DisplayOptions;
  readonly #queryId: string;
  #ended = 0;
  #entries: readonly TranscriptEntry[] = [];
  #newest: QueryProgress | null = null;
  #step: StepEntry | null = null;
  #answer: { readonly entry: AnswerEntry; readonly drawn: string } | null = null;

  constructor(transcript: Transcript, { queryId, shown }: {
    readonly queryId: string;
    readonly shown: () => DisplayOptions;
  }) {
    this.#transcript = transcript;
    this.#shown = shown;
    this.#queryId = queryId;
  }

  /** The value is null until the other process has shared events. */
  get progress(): QueryProgress | null {
    return this.#newest;
  }

  /** Null means that the list in the store applies. */
  get plan(): readonly PlanItem[] | null {
    const plan = this.#isNewer ? this.#newest?.plan ?? [] : [];
    return plan.length > 0 ? plan : null;
  }

  /** The store does not have these changes yet. */
  get changes(): readonly string[] {
    return this.#isNewer ? this.#newest?.step?.blocks.flatMap(({ diffs }) => diffs) ?? [] : [];
  }

  /** The caller has added the ended steps at the end of the transcript. */
  restore({ ended, now }: StoredTurn): void {
    this.#ended = ended;
    this.#entries = this.#newest === null ? now : this.#live();
    this.#transcript.add(...this.#entries);
  }

  show(events: readonly QueryEvent[]): void {
    const progress = new QueryProgress();
    for (const event of events) progress.take(event);
    if (progress.queryId !== this.#queryId) return; // An earlier query left these events.
    this.#newest = progress;
    const before = this.#entries;
    this.#entries = this.#live();
    for (const entry of before) if (!this.#entries.includes(entry)) this.#transcript.replace(entry, []);
    this.#transcript.add(...this.#entries.filter((entry) => !before.includes(entry)));
  }

  get #isNewer(): boolean {
    return (this.#newest?.step?.number ?? 0) > this.#ended;
  }

  /** The entries of a step stay the same, so the user can scroll in a growing step. */
  #live(): readonly TranscriptEntry[] {
    const { step = null } = this.#newest ?? {};
    if (step === null || !this.#isNewer) return [];
    if (this.#step?.step.number !== step.number) [this.#step, this.#answer] = [new StepEntry(step, this.#shown), null];
    this.#step.change(step);
    return [this.#step, ...this.#answerEntries()];
  }

  #answerEntries(): readonly TranscriptEntry[] {
    const { answer = "", draft = "" } = this.#newest ?? {};
    const text = answer || draft;
    if (text === "") return [];
    const { entry, drawn } = this.#answer !== null && text.startsWith(this.#answer.drawn)
      ? this.#answer
      : { entry: new AnswerEntry(this.#shown), drawn: "" };
    this.#answer = { entry, drawn: text };
    if (answer === "") entry.append(text.slice(drawn.length));
    else entry.settle(answer);
    return [entry];
  }
}
