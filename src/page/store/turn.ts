import { signal } from "@preact/signals";
import type { ApprovalQuestion } from "../../domain/query/approval.ts";
import { BlockTally } from "../../domain/query/host_call.ts";
import type { ReadingMode } from "../../domain/query/outcomes.ts";
import { isChild, isEnd } from "../../domain/query/query_event.ts";
import {
  blockLine,
  LOST_BLOCKS,
  onlyAnswers,
  QueryProgress,
  type Step,
  type StepChild,
  storedAsked,
  storedChildren,
} from "../../domain/query/query_progress.ts";
import type { BlockResult, PlanItem, QueryEvent } from "../../domain/query/query_schemas.ts";
import { type ApiMarkdown, type ApiQuery, inApi, type Iteration, json, request, type TurnEnd } from "./api.ts";
import { DraftAnswer } from "./draft_answer.ts";

const STEP_PX = 180;
const DIFF_STEPS = 100;

const made = { count: 0 };

interface SentMeanwhile {
  readonly text: string;
  readonly step: number | null;
}

export type OnlyReads = Exclude<ReadingMode, "aside">;

export interface RequestKind {
  readonly only?: ReadingMode | undefined;
  readonly images?: number | undefined;
}

export class Turn {
  readonly running = signal(false);
  readonly open = signal(false);
  readonly count = signal(0);
  /** The budget allows steps up to this number. */
  readonly most = signal(0);
  readonly tokens = signal(0);
  readonly doing = signal("");
  readonly elapsed = signal(0);
  readonly steered = signal<readonly SentMeanwhile[]>([]);
  readonly question = signal<ApprovalQuestion | null>(null);
  readonly plan = signal<readonly PlanItem[]>([]);
  readonly draft = new DraftAnswer(async (texts) => {
    return (await json<ApiMarkdown>(inApi("markdown"), { method: "POST", body: { texts } })).trees;
  });
  readonly isAccepted = signal(false);
  readonly end = signal<TurnEnd | null>(null);
  readonly boxes = signal<readonly StepBox[]>([]);
  readonly live = signal<readonly LiveStep[]>([]);
  readonly diffs = signal<readonly string[] | null>(null);
  readonly key = made.count++;
  node: HTMLElement | null = null;
  #progress = new QueryProgress();
  #clock: ReturnType<typeof setInterval> | undefined;

  queryId: string | null = null;

  /** The value is undefined for requests that may change files. */
  readonly only: ReadingMode | undefined;
  readonly images: number | undefined;

  /** If `isElsewhere` is true, another process runs the query, and its events come from the database. */
  constructor(
    readonly conversation: string,
    readonly request: string,
    { only, images }: RequestKind,
    readonly isElsewhere = false,
  ) {
    this.only = only;
    this.images = images;
  }

  static ended(
    conversation: string,
    query: TurnEnd & Pick<ApiQuery, "text" | "queryId" | "steered" | "only" | "images">,
    plan: readonly PlanItem[],
  ): Turn {
    const turn = new Turn(conversation, query.text, query);
    turn.queryId = query.queryId;
    turn.plan.value = plan;
    turn.steered.value = query.steered.map(({ text, iteration }) => ({ text, step: iteration }));
    turn.#finish(query);
    return turn;
  }

  begin(at: number): void {
    this.running.value = true;
    this.open.value = true;
    this.#clock = setInterval(() => {
      this.elapsed.value = Date.now() - at - this.#progress.askedMs;
      this.#say();
    }, 1000);
  }

  drawAnswer(answerTree: Exclude<TurnEnd["answerTree"], undefined>): void {
    if (this.end.value !== null) this.end.value = { ...this.end.value, answerTree };
  }

  /** Resolves with true when a step has read the message. If the query ends first, the message becomes a request, and
   * the result is false. */
  async tell(text: string): Promise<boolean> {
    this.steered.value = [...this.steered.value, { text, step: null }];
    let isRead = false;
    try {
      const path = inApi("conversations", this.conversation, "messages");
      // If the query has ended meanwhile, the message becomes a query, which may ask for approvals.
      const body = { request: text, whenBusy: "steer", approvals: "ask" };
      isRead = (await request(path, { method: "POST", body })).status === 202;
    } finally {
      if (!isRead) this.#untell(text);
    }
    return isRead;
  }

  /** The server may repeat events after a lost connection, so `started` clears the turn. */
  take(event: QueryEvent): void {
    if (event.type === "started" && !isChild(event)) this.#restart(event.queryId);
    this.#progress.take(event);
    this.question.value = this.#progress.question;
    if (event.type === "plan") this.plan.value = event.items;
    this.#say();
    this.most.value = this.#progress.spent?.budget ?? 0;
    if (isChild(event)) return this.live.value.at(-1)?.take(event, this.#progress);
    if (event.type === "steering") this.#wait(event.texts);
    if (event.type === "steered") this.#read(event.text, event.iteration);
    if (event.iteration !== null) this.#stepOf(event.iteration)?.take(event, this.#progress);
    if (event.type === "usage") this.tokens.value = event.usage.input + event.usage.output;
    this.isAccepted.value = this.#progress.answer !== "";
    if (isEnd(event) && event.result.reason === "cancelled") return this.#finish(event.result);
    this.draft.set(this.#progress.answer || this.#progress.draft);
    if (isEnd(event)) this.#finish(event.result);
  }

  #say(): void {
    const { doing, callTime } = this.#progress;
    this.doing.value = callTime ? `${doing} · ${callTime}` : doing;
  }

  showSteps(open: boolean): void {
    this.open.value = open;
    const { end, boxes } = this;
    if (!open || end.value === null || boxes.value.length > 0) return;
    const iterations = storedSteps(end.value);
    boxes.value = Array.from({ length: Math.ceil(iterations / BOX_STEPS) }, (_, at) => {
      const from = at * BOX_STEPS;
      return this.#box(from, Math.min(BOX_STEPS, iterations - from) * STEP_PX);
    });
  }

  async loadDiffs(): Promise<void> {
    if (this.diffs.value !== null) return;
    const found: string[] = [];
    for (let after = 0;;) {
      const items = await this.#load(after, DIFF_STEPS);
      found.push(...items.flatMap(({ metadata }) => (metadata.diffs ?? []).map(({ diff }) => diff)));
      after = items.at(-1)?.iteration ?? after;
      if (items.length < DIFF_STEPS) break;
    }
    this.diffs.value = found;
  }

  /** The box keeps the drawn `height` of the removed steps, so that the page does not move. */
  putAway(height: number): void {
    const [first] = this.live.value;
    if (first === undefined) return;
    const from = Math.floor((first.number - 1) / BOX_STEPS) * BOX_STEPS;
    this.live.value = this.live.value.filter(({ number }) => number > from + BOX_STEPS);
    this.boxes.value = [...this.boxes.value, this.#box(from, height)];
  }

  /** Another tab may have sent the message, so this method adds a missing message. */
  #read(text: string, step: number | null): void {
    const all = this.steered.value;
    const at = all.findIndex((one) => one.step === null && one.text === text);
    this.steered.value = at < 0 ? [...all, { text, step }] : all.with(at, { text, step });
  }

  #wait(texts: readonly string[]): void {
    const read = this.steered.value.filter(({ step }) => step !== null);
    this.steered.value = [...read, ...texts.map((text) => ({ text, step: null }))];
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
    this.steered.value = this.steered.value.filter(({ step }) => step === null);
    this.tokens.value = 0;
    this.count.value = 0;
  }

  /** A call of an earlier step may end late. */
  #stepOf(iteration: number): LiveStep | undefined {
    const { step } = this.#progress;
    if (step === null) return undefined;
    if (iteration < step.number) return this.live.value.find(({ number }) => number === iteration);
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
    this.steered.value = this.steered.value.filter(({ step }) => step !== null); // Unread messages become requests.
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

/** If the process was lost, `iterations` does not count the last step, but the database may have this step. */
export function storedSteps({ iterations, reason }: Pick<TurnEnd, "iterations" | "reason">): number {
  return iterations + (reason === "process_lost" ? 1 : 0);
}

export interface ShownStep {
  readonly number: number;
  readonly thinking: string;
  readonly blocks: readonly {
    readonly code: string;
    readonly whole: boolean;
    readonly result: BlockResult | null;
    readonly calling: string;
    readonly printing: string;
    readonly tally: BlockTally;
    readonly diffs: readonly string[];
  }[];
  readonly children: readonly StepChild[];
  readonly asked: readonly string[];
  readonly line: string;
  readonly reason: string | null;
  readonly live: boolean;
  readonly ended: boolean;
}

const STORED = { calling: "", printing: "", whole: true } as const;

export function shownStored({ iteration, status, thinking, blocks, metadata, error }: Iteration): ShownStep {
  const outcome = metadata.outcome ?? (status === "interrupted" ? status : "running");
  const ended = blocks.map(({ code, result }, at) => {
    const diffs = (metadata.diffs ?? []).filter(({ block }) => block === at).map(({ diff }) => diff);
    return { ...STORED, code, result, diffs, tally: BlockTally.of(result.calls) };
  });
  const lost = status === "interrupted" && blocks.length === 0 ? metadata.pendingBlocks ?? [] : [];
  return {
    number: iteration,
    thinking,
    blocks: [
      ...ended,
      ...lost.map((code) => ({ ...STORED, code, result: null, diffs: [], tally: new BlockTally() })),
    ],
    ...{ children: storedChildren({ ...metadata }), asked: storedAsked({ ...metadata }) },
    ...{ reason: lost.length > 0 ? LOST_BLOCKS : error, live: false, ended: true },
    line: endOf(outcome, ended),
  };
}

const ENDS: Readonly<Record<string, string>> = {
  interrupted: "interrupted",
  running: "running",
  refused: "answer refused",
  empty: "empty reply",
};
const BARE_ENDS: Readonly<Record<string, string>> = { final: "answered", failed: "no usable reply" };

function endOf(outcome: string, blocks: readonly Parameters<typeof blockLine>[0][]): string {
  if (blocks.every(onlyAnswers)) return BARE_ENDS[outcome] ?? ENDS[outcome] ?? "";
  const isRefused = outcome === "failed" && blocks.some(({ tally }) => tally.refused) &&
    blocks.every((block) => block.result?.ok || blockLine(block).refused);
  return isRefused ? "refused by you" : ENDS[outcome] ?? "";
}

export class LiveStep {
  /** Components read this number, because the step object itself stays the same. */
  readonly changes = signal(0);
  readonly #step: Step;
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
    const { number, thinking, children, asked, outcome } = this.#step;
    const blocks = this.#step.blocks.map((block, at) => ({ ...block, whole: this.#whole.has(at) }));
    // The blocks already show their errors.
    const reason = outcome === "failed" && blocks.length > 0 ? null : this.#step.reason;
    const ended = outcome !== null;
    const made = { number, thinking, blocks, children, asked, line: this.#line };
    return { ...made, reason, live: true, ended };
  }

  take(event: QueryEvent, progress: QueryProgress): void {
    this.changes.value++;
    if (event.parentQueryId !== undefined) return;
    const waits = event.type === "retrying" || event.type === "waiting";
    if (waits) this.#line = progress.doing;
    else if (this.#waits) this.#line = "";
    this.#waits = waits;
    if (event.type === "block_started" || event.type === "block_finished") this.#whole.add(event.block);
    if (event.type === "block_finished") this.#line = "";
    if (event.type === "iteration_finished") this.#line = endOf(event.outcome, this.#step.blocks);
  }
}

export const BOX_STEPS = 20;

/** A box far from the viewport can be empty, and then has the height of its steps, which is an estimate before the
 * first drawing. */
export class StepBox {
  readonly items = signal<readonly Iteration[] | null>(null);
  readonly fault = signal("");
  readonly height;
  #filling: Promise<void> | null = null;
  readonly #load: (after: number, limit: number) => Promise<readonly Iteration[]>;

  constructor(
    readonly from: number,
    { height, load }: {
      readonly height: number;
      readonly load: (after: number, limit: number) => Promise<readonly Iteration[]>;
    },
  ) {
    this.height = signal(height);
    this.#load = load;
  }

  async fill(): Promise<void> {
    await (this.#filling ??= this.#fetch());
  }

  leave(height: number): void {
    if (this.#filling === null) return;
    this.#filling = null;
    this.height.value = height;
    this.items.value = null;
    this.fault.value = "";
  }

  async #fetch(): Promise<void> {
    try {
      const items = await this.#load(this.from, BOX_STEPS);
      if (this.#filling !== null) this.items.value = items;
    } catch (error) {
      this.#filling = null;
      this.fault.value = error instanceof Error ? error.message : String(error);
    }
  }
}
