import { signal } from "@preact/signals";
import type { ApprovalQuestion } from "../../domain/query/approval.ts";
import { isChild, isEnd } from "../../domain/query/query_event.ts";
import { QueryProgress } from "../../domain/query/query_progress.ts";
import type { QueryEvent } from "../../domain/query/query_schemas.ts";
import type { ApiQuery, Iteration, TurnEnd } from "./api_types.ts";
import { inApi, json, request } from "./api.ts";
import { LiveStep } from "./shown_step.ts";
import { BOX_STEPS, StepBox } from "./step_box.ts";

/** Estimated height of a step before it is first shown. */
const STEP_PX = 180;

const made = { count: 0 };

/** A message sent while the query ran. */
export interface SentMeanwhile {
  readonly text: string;
  /** The step that read it; null until one has. */
  readonly step: number | null;
}

/** One request and its result: what the events of its query, or its row, say. */
export class Turn {
  readonly running = signal(false);
  /** Whether its steps are shown. */
  readonly open = signal(false);
  /** The number of steps so far. */
  readonly count = signal(0);
  readonly tokens = signal<number | null>(null);
  /** What it is doing, in a few words. */
  readonly doing = signal("");
  /** Milliseconds since it began, by whole seconds. */
  readonly elapsed = signal(0);
  /** In the order in which they were sent. */
  readonly steered = signal<readonly SentMeanwhile[]>([]);
  readonly question = signal<ApprovalQuestion | null>(null);
  /** The answer as it arrives. */
  readonly answer = signal("");
  /** Null until it has ended. */
  readonly end = signal<TurnEnd | null>(null);
  /** Steps that are on the server. */
  readonly boxes = signal<readonly StepBox[]>([]);
  /** Steps that came as events. */
  readonly live = signal<readonly LiveStep[]>([]);
  readonly key = made.count++;
  /** Set while it is drawn. */
  node: HTMLElement | null = null;
  #progress = new QueryProgress();
  #clock: ReturnType<typeof setInterval> | undefined;

  /** Null until its query has begun. */
  queryId: string | null = null;

  constructor(readonly conversation: string, readonly request: string) {}

  /** For a query that has ended; its steps are fetched when they are opened. */
  static ended(
    conversation: string,
    query: TurnEnd & Pick<ApiQuery, "text" | "queryId" | "steered">,
  ): Turn {
    const turn = new Turn(conversation, query.text);
    turn.queryId = query.queryId;
    turn.steered.value = query.steered.map(({ text, iteration }) => ({ text, step: iteration }));
    turn.#finish(query);
    return turn;
  }

  /** `at`: when it began. */
  begin(at: number): void {
    this.running.value = true;
    this.open.value = true;
    this.#clock = setInterval(() => this.elapsed.value = Math.max(0, Date.now() - at), 1000);
  }

  /** Its answer, read as Markdown. */
  drawAnswer(answerTree: NonNullable<TurnEnd["answerTree"]>): void {
    if (this.end.value !== null) this.end.value = { ...this.end.value, answerTree };
  }

  /** Sends it a message, and resolves once a step has read it. False if its query ended first: then the message is a
   * request. */
  async tell(text: string): Promise<boolean> {
    this.steered.value = [...this.steered.value, { text, step: null }];
    let isRead = false;
    try {
      const path = inApi("conversations", this.conversation, "messages");
      isRead = (await request(path, { method: "POST", body: { request: text, whenBusy: "steer" } })).status === 202;
    } finally {
      if (!isRead) this.#untell(text);
    }
    return isRead;
  }

  /** Takes one event. `started` starts over: after a lost connection events may come again, from rows. */
  take(event: QueryEvent): void {
    if (event.type === "started" && !isChild(event)) this.#restart(event.queryId);
    this.#progress.take(event);
    this.question.value = this.#progress.question;
    this.doing.value = this.#progress.doing;
    if (isChild(event)) return this.live.value.at(-1)?.take(event, this.#progress);
    if (event.type === "steered") this.#read(event.text, event.iteration);
    if (event.iteration !== null) this.#liveStep()?.take(event, this.#progress);
    if (event.type === "usage") this.tokens.value = event.usage.input + event.usage.output;
    if (event.type === "answer_delta") this.answer.value = this.#progress.answer;
    if (isEnd(event)) this.#finish(event.result);
  }

  /** Shows or hides the steps; those of a query that has ended are on the server. */
  showSteps(open: boolean): void {
    this.open.value = open;
    const { end, boxes } = this;
    if (!open || end.value === null || boxes.value.length > 0) return;
    const { iterations } = end.value;
    boxes.value = Array.from({ length: Math.ceil(iterations / BOX_STEPS) }, (_, at) => {
      const from = at * BOX_STEPS;
      return this.#box(from, Math.min(BOX_STEPS, iterations - from) * STEP_PX);
    });
  }

  /** Removes the earliest live steps, which were drawn `height` pixels high, from the page. */
  putAway(height: number): void {
    const [first] = this.live.value;
    if (first === undefined) return;
    const from = Math.floor((first.number - 1) / BOX_STEPS) * BOX_STEPS;
    this.live.value = this.live.value.filter(({ number }) => number > from + BOX_STEPS);
    this.boxes.value = [...this.boxes.value, this.#box(from, height)];
  }

  /** A step reads messages in the order in which they were sent; another tab may have sent this one. */
  #read(text: string, step: number | null): void {
    const all = this.steered.value;
    const at = all.findIndex((one) => one.step === null && one.text === text);
    this.steered.value = at < 0 ? [...all, { text, step }] : all.with(at, { text, step });
  }

  #untell(text: string): void {
    const at = this.steered.value.findLastIndex((one) => one.step === null && one.text === text);
    if (at >= 0) this.steered.value = this.steered.value.toSpliced(at, 1);
  }

  #box(from: number, height: number): StepBox {
    return new StepBox(from, { height, load: (after, limit) => this.#load(after, limit) });
  }

  #restart(queryId: string): void {
    this.queryId = queryId;
    this.#progress = new QueryProgress();
    this.live.value = [];
    this.boxes.value = [];
    this.answer.value = "";
    this.steered.value = this.steered.value.filter(({ step }) => step === null);
    this.tokens.value = null;
    this.count.value = 0;
  }

  #liveStep(): LiveStep | undefined {
    const { step } = this.#progress;
    if (step === null) return undefined;
    const last = this.live.value.at(-1);
    if (last?.number === step.number) return last;
    const made = new LiveStep(step);
    this.live.value = [...this.live.value, made];
    this.count.value = Math.max(this.count.value, step.number);
    return made;
  }

  #finish(end: TurnEnd): void {
    clearInterval(this.#clock);
    this.running.value = false;
    this.question.value = null;
    this.count.value = end.iterations;
    this.live.value = [];
    this.boxes.value = [];
    this.open.value = false;
    this.end.value = end;
  }

  async #load(after: number, limit: number): Promise<readonly Iteration[]> {
    const path = inApi("conversations", this.conversation, "queries", this.queryId ?? "", "iterations");
    return (await json<{ readonly items: readonly Iteration[] }>(`${path}?after=${after}&limit=${limit}`)).items;
  }
}
