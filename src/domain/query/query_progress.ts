import { asRecord } from "../kit/json.ts";
import { clip, oneLine, runningText, visibleText } from "../kit/text.ts";
import { type ApprovalQuestion, askedText } from "./approval.ts";
import { BlockTally, type CallLine, type HostCallEvent, type Measure } from "./host_call.ts";
import { type IterationOutcome, reasonText } from "./outcomes.ts";
import { beginsWithPlan, PLAN_VARIABLE } from "./plan.ts";
import { type Delay, delayLine, isChild, isEnd } from "./query_event.ts";
import type { BlockResult, PlanItem, QueryEvent, QueryResult } from "./query_schemas.ts";

const RESULT_CHARS = 20_000;

export interface StepBlock {
  code: string;
  calling: string;
  printing: string;
  readonly tally: BlockTally;
  readonly diffs: string[];
  result: BlockResult | null;
}

export interface StepChild {
  readonly task: string;
  iteration: number;
  done: { readonly ok: boolean; readonly text: string } | null;
}

export function endedChild(request: string, { status, reason, answer, iterations }: QueryResult): StepChild {
  return { task: taskOf(request), iteration: iterations, done: endOfChild({ status, reason, answer }) };
}

function taskOf(request: string): string {
  return oneLine(visibleText(request), 200);
}

function endOfChild({ status, reason, answer }: Pick<QueryResult, "status" | "reason" | "answer">) {
  const ok = status === "done";
  return { ok, text: ok ? answer : reasonText(reason) };
}

export function storedChildren({ children }: Readonly<Record<string, unknown>>): StepChild[] {
  return (Array.isArray(children) ? children as unknown[] : []).flatMap((one) => {
    const { task, iteration, done } = asRecord(one);
    const { ok, text } = asRecord(done);
    if (typeof task !== "string" || typeof iteration !== "number") return [];
    return [{ task, iteration, done: { ok: ok === true, text: typeof text === "string" ? text : "" } }];
  });
}

export function storedAsked({ asked }: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(asked) ? asked.map(String) : [];
}

export const LOST_BLOCKS = "The process ended while these blocks ran, so their results are lost";

export interface Step {
  /** The number is 1-based. */
  readonly number: number;
  readonly steered: string[];
  thinking: string;
  readonly blocks: StepBlock[];
  readonly children: StepChild[];
  readonly asked: string[];
  outcome: IterationOutcome | null;
  reason: string | null;
  ms: number;
}

function callingText({ action }: HostCallEvent): string {
  return action ? `${action.doing} ${action.subject}`.trimEnd() : "";
}

export function newBlock(): StepBlock {
  return { code: "", calling: "", printing: "", tally: new BlockTally(), diffs: [], result: null };
}

export function newStep(number: number): Step {
  return { number, steered: [], thinking: "", blocks: [], children: [], asked: [], outcome: null, reason: null, ms: 0 };
}

export function boundedResult(result: BlockResult): BlockResult {
  const bounded = (text: string): string => clip(text, RESULT_CHARS);
  return {
    ...result,
    stdout: bounded(result.stdout),
    stderr: bounded(result.stderr),
    preview: bounded(result.preview),
  };
}

type Phase = "waiting" | "thinking" | "writing" | "running" | "calling" | "delayed" | "asking" | "answering" | "child";

/** A call may end in a later step, so Vis keeps this number of earlier steps to show the end of the call. */
const MOST_EARLIER = 50;
const TIMED_FROM_MS = 5_000;

export class QueryProgress {
  queryId: string | null = null;
  phase: Phase = "waiting";
  step: Step | null = null;
  /** If the last event changed an earlier step, this is the step. */
  late: Step | null = null;
  #earlier: readonly Step[] = [];
  /** These numbers count all steps, but `iteration_started` counts only steps that use the budget. */
  spent: { readonly used: number; readonly budget: number } | null = null;
  answer = "";
  /** Vis may still refuse this part of an answer. */
  draft = "";
  plan: readonly PlanItem[] = [];
  question: ApprovalQuestion | null = null;
  readonly children = new Map<string, StepChild>();
  child: StepChild | null = null;
  block = 0;
  #model = "the model";
  #detail = "";
  #delayed = (): string => "";
  #calledAt = 0;
  #limitMs: number | undefined;
  /** During a question, this is the negative time of its start, plus the time of earlier questions. */
  #asked = 0;
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Returns the time of a call that has run for some seconds, such as "12 s of 120 s", and otherwise "". The time for
   * which the call waited for the user does not count. */
  get callTime(): string {
    if (this.phase !== "calling" || this.question !== null) return "";
    const ms = this.#now() - this.#calledAt - this.askedMs;
    if (ms < TIMED_FROM_MS) return "";
    return runningText(ms) + (this.#limitMs === undefined ? "" : ` of ${runningText(this.#limitMs)}`);
  }

  get askedMs(): number {
    return this.question === null ? this.#asked : this.#asked + this.#now();
  }

  get doing(): string {
    const { phase, child } = this;
    if (this.question !== null) return "waiting for your answer";
    if (phase === "waiting") return `waiting for ${this.#model}`;
    if (phase === "writing" || phase === "running") return `${phase} code`;
    if (phase === "child") return `↳ ${oneLine(child?.task ?? "a question of its own", 40)}`;
    if (phase === "delayed") return this.#delayed();
    return phase === "calling" ? this.#detail : phase;
  }

  take(event: QueryEvent): void {
    if (event.type === "approval_requested") {
      this.#asked = this.askedMs - this.#now();
      this.question = event;
    } else if (event.type === "approval_answered") {
      if (this.question !== null) this.step?.asked.push(askedText(this.question, event));
      this.#answered();
    }
    this.late = null;
    if (isChild(event)) return this.#takeChild(event);
    if (this.#isLate(event)) return this.#takeLate(event);
    if (isEnd(event)) this.#answered();
    if (isEnd(event) || event.type === "iteration_finished" && event.outcome !== "final") this.draft = "";
    this.queryId = event.queryId;
    if (event.iteration !== null && event.iteration !== this.step?.number) {
      if (this.step !== null) this.#earlier = [...this.#earlier, this.step].slice(-MOST_EARLIER);
      this.step = newStep(event.iteration);
    }
    if (event.type === "started") this.#model = event.model;
    else if (event.type === "iteration_started") {
      const used = event.iteration ?? event.used;
      this.spent = { used, budget: event.budget + used - event.used };
    } else if (event.type === "plan") this.plan = event.items;
    else if (event.type === "answer_draft") {
      this.phase = "answering";
      this.draft = event.again ? event.delta : this.draft + event.delta;
    } else if (event.type === "answer_delta") {
      this.phase = "answering";
      this.answer += event.delta;
      this.draft = "";
    } else if (event.type === "retrying" || event.type === "waiting") this.#delay(event);
    else if (this.step !== null) this.#change(this.step, event);
  }

  #answered(): void {
    this.#asked = this.askedMs;
    this.question = null;
  }

  #isLate({ type, iteration }: QueryEvent): boolean {
    if (type !== "host_call" && type !== "call_output") return false;
    return iteration !== null && this.step !== null && iteration < this.step.number;
  }

  #takeLate(event: QueryEvent): void {
    const step = this.#earlier.find(({ number }) => number === event.iteration);
    const block = event.type === "host_call" ? step?.blocks[event.block] : undefined;
    if (!step || !block || event.type !== "host_call") return;
    this.late = step;
    block.tally.take(event);
    block.diffs.push(...event.diffs ?? []);
  }

  #delay(event: Delay): void {
    this.phase = "delayed";
    const begun = this.#now();
    this.#delayed = () => {
      const passed = event.type === "retrying" ? { waitMs: event.waitMs - (this.#now() - begun) } : {};
      return oneLine(visibleText(delayLine({ ...event, ...passed })), 300);
    };
  }

  #change(step: Step, event: QueryEvent): void {
    switch (event.type) {
      case "steered":
        step.steered.push(event.text);
        return;
      case "thinking":
        this.phase = "thinking";
        step.thinking += event.delta;
        return;
      case "code":
        this.#blockOf(step, event.block, "writing").code += event.delta;
        return;
      case "block_started":
        this.#blockOf(step, event.block, "running").code = event.code;
        return;
      case "block_finished":
        this.#blockOf(step, event.block, "running").result = boundedResult(event.result);
        return;
      case "host_call": {
        const begins = event.phase === "start" && event.action !== undefined; // Functions of Vis itself have no action.
        const block = this.#blockOf(step, event.block, begins ? "calling" : "running");
        block.calling = this.#detail = begins ? callingText(event) : "";
        this.#calledAt = this.#now() - this.askedMs;
        this.#limitMs = event.limitMs;
        block.printing = "";
        block.tally.take(event);
        block.diffs.push(...event.diffs ?? []);
        return;
      }
      case "call_output": {
        const block = step.blocks[event.block];
        if (block && block.result === null) block.printing = event.output;
        return;
      }
      case "approval_requested":
        this.phase = "asking";
        return;
      case "approval_answered":
        this.phase = "calling";
        return;
      case "iteration_finished":
        this.phase = "waiting";
        Object.assign(step, { outcome: event.outcome, reason: event.reason, ms: event.ms });
    }
  }

  #blockOf({ blocks }: Step, index: number, phase: Phase): StepBlock {
    this.phase = phase;
    this.block = index;
    while (blocks.length < index) blocks.push(newBlock());
    return blocks[index] ??= newBlock();
  }

  #takeChild(event: QueryEvent): void {
    this.phase = "child";
    if (event.type === "started") {
      const child = { task: taskOf(event.request), iteration: 0, done: null };
      this.children.set(event.queryId, child);
      this.step?.children.push(child);
    }
    this.child = this.children.get(event.queryId) ?? null;
    if (this.child === null) return;
    this.child.iteration = event.iteration ?? this.child.iteration;
    if (!isEnd(event)) return;
    this.child.done = endOfChild(event.result);
    this.children.delete(event.queryId);
  }
}

const CODE_CHARS = 60;

export function codeLine(code: string, most = CODE_CHARS): string {
  return oneLine(code.slice(0, 4 * most).trim().replace(/\n+(?=[^\s)\]}])/g, " ⏎ "), most);
}

/** The class name of a failed host call or of a timeout does not help people, so the text omits it. */
export function blockFailure({ error, outcome }: BlockResult): string {
  if (!error) return outcome;
  return error.name === "HostCallError" || error.name === "Timeout" ? error.message : `${error.name}: ${error.message}`;
}

/** Channels show the plan elsewhere, so a block that only changed the plan needs no line of code. */
function onlySetsPlan({ code, tally, result }: Pick<StepBlock, "code" | "tally" | "result">): boolean {
  if (result === null || !result.ok || tally.text !== "" || result.stdout !== "" || !beginsWithPlan(code)) return false;
  return result.defined.every((name) => name === PLAN_VARIABLE);
}

export const ONLY_ANSWERS = /^(?:await )?answer\([^]*\);?$/;

export function onlyAnswers({ code, tally, result }: Pick<StepBlock, "code" | "tally" | "result">): boolean {
  if (result === null || !result.ok || tally.text !== "" || result.stdout !== "") return false;
  return result.defined.length === 0 && ONLY_ANSWERS.test(code.trim());
}

/** `ok` is false if the block or a call failed, or if the user refused a call. `threw` is true if the block made calls,
 * and failed without a failed call. `lines` has one line for each state that occurs. */
export function blockLine(
  { code, tally, result }: Pick<StepBlock, "code" | "tally" | "result">,
  width = Infinity,
  measure?: Measure,
):
  & Readonly<Record<"isCode" | "ok" | "refused" | "threw", boolean>>
  & { readonly lines: readonly CallLine[] } {
  const ran = result?.ok ?? false;
  const ok = ran && !tally.failed && !tally.refused;
  const isCancelled = result?.outcome === "cancelled";
  const refused = isCancelled ||
    tally.refused && !tally.failed && (ran || result?.error?.name === "HostCallError");
  const threw = result !== null && !ran && !refused && tally.text !== "" && !tally.failed;
  const is = { ok, refused, threw, isCode: false };
  if (tally.text !== "") {
    const lines = tally.linesWithin(width, measure).map(({ state, text }) => ({
      state: isCancelled && state === "failed" ? "refused" as const : state,
      text,
    }));
    return { lines, ...is };
  }
  const state = ok ? "ok" : refused ? "refused" : "failed";
  const single = (text: string) => ({ lines: [{ state, text }] as const });
  if (onlySetsPlan({ code, tally, result })) return { ...single("updated the list of tasks"), ...is };
  const hasValue = result?.ok && result.outcome === "value";
  return {
    ...single(hasValue ? `${codeLine(code)} → ${result.preview}` : codeLine(code, Infinity)),
    ...is,
    isCode: true,
  };
}
