import type { BlockOutcome } from "../../../domain/query/query_schemas.ts";
import { encode } from "../../codec/codec.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { type Bytes, imageParts } from "../../protocol.ts";
import type { Compiler } from "../compiler/compiler.ts";
import type { CompiledBlock } from "../compiler/compiler_script.ts";
import type { OutsideWork } from "../platform/outside_work.ts";
import { captured, look } from "../realm/captured.ts";
import type { InjectedNames, ShownResults } from "../realm/names.ts";
import { resetStackLimit } from "../realm/realm.ts";
import type { HostCalls } from "../run/host_calls.ts";
import type { Notes, Output } from "../run/output.ts";
import type { Pipe } from "../run/pipe.ts";
import type { Timers } from "../run/timers.ts";
import type { RunContext, TimedTasks } from "../run/timed_tasks.ts";
import type { RealmVariables } from "../variables/variables.ts";
import { summarize } from "../view/summary.ts";
import { broughtBack, CANCELLED, madePermanent, SHOWS_PROMISE, timedOut } from "./sentences.ts";
import { type ThrownError, thrownError } from "./thrown_error.ts";

interface RunRequest {
  readonly id: string;
  readonly iteration: number;
  readonly index: number;
  readonly deadlineMs: number;
  readonly block: CompiledBlock;
}

interface Ending {
  readonly outcome: Exclude<BlockOutcome, "refused" | "killed" | "memory">;
  readonly value: unknown;
  readonly error?: ThrownError;
  readonly isDeclared?: boolean;
}

interface Active {
  readonly run: RunRequest;
  readonly context: RunContext;
  readonly begun: number;
  deadline: number;
  pausedAt: number | null;
  isDue: boolean;
  ending: Ending | null;
  returned: unknown;
  thrown: Ending | null;
  hides: readonly string[];
}

/** A turn of background work has these limits: while no block is active, while another block is active, and while its own
 * block ends. */
const BACKGROUND_MS = 1000, BESIDE_MS = 400, AFTER_END_MS = 100;
const NO_VALUE = undefined;

export class Blocks {
  readonly #parts: BlockParts;
  #timer: ReturnType<typeof captured.setTimeout> | null = null;
  #active: Active | null = null;
  #lastId = "";
  #contexts = new look.Set<RunContext>();

  constructor(parts: BlockParts) {
    this.#parts = parts;
  }

  get currentId(): string {
    return this.#lastId;
  }

  /** Also ends a block that is out of time: its timer is late if turns follow each other without a pause. */
  limitMs(owner: RunContext | null): number {
    const active = this.#active;
    if (!active) return BACKGROUND_MS;
    const isOwn = owner === active.context;
    if (isOwn) this.#resume(active);
    const left = active.deadline - captured.now();
    if (left <= 0 && active.pausedAt === null) this.#end(active, { outcome: "timeout", value: NO_VALUE });
    return !isOwn ? BESIDE_MS : active.ending ? AFTER_END_MS : left;
  }

  /** The time of a block pauses while the block waits only for calls with their own deadlines. */
  onIdle(): void {
    const active = this.#active;
    const { calls, timers, isQuiet } = this.#parts;
    if (active?.returned && !active.ending && isQuiet()) {
      // No remaining work could settle the promise.
      return this.#end(active, { outcome: "value", value: active.returned });
    }
    if (active?.thrown && !calls.areOpen(active.context)) return this.#end(active, active.thrown);
    if (!active || active.ending || active.pausedAt !== null || !calls.onlyUntimed || timers.running > 0) return;
    active.pausedAt = captured.now();
  }

  onStopped(owner: RunContext | null): void {
    const active = this.#active?.context === owner ? this.#active : null;
    const outcome = active?.ending?.outcome;
    if (active && !outcome) return this.#end(active, { outcome: "timeout", value: NO_VALUE });
    if (active && outcome !== "timeout" && outcome !== "cancelled") {
      active.ending = { outcome: "timeout", value: NO_VALUE };
      return this.#abandon(active, "timeout");
    }
    this.#stopWork(owner, "its block's background work did not pause"); // Otherwise, the work would use up the next turns.
    this.#parts.notes.add("Vis stopped background work: it ran too long without a pause");
  }

  run(run: RunRequest): void {
    const { turns, output } = this.#parts;
    this.#parts.results.begin(run.iteration);
    const context: RunContext = { id: run.id, ended: "" };
    look.setAdd(this.#contexts, context);
    const begun = captured.now();
    const active: Active = {
      run,
      context,
      begun,
      deadline: begun + run.deadlineMs,
      pausedAt: null,
      isDue: false,
      ending: null,
      returned: null,
      thrown: null,
      hides: [],
    };
    this.#active = active;
    this.#lastId = run.id;
    output.begin();
    resetStackLimit();
    this.#watch(active.deadline);
    turns.soon(() => captured.context.run(context, () => this.#start(active)), context);
  }

  get onlyWaits(): boolean {
    const active = this.#active;
    if (!active || active.ending || active.pausedAt !== null || active.isDue) return false;
    const { calls, timers, outside, turns } = this.#parts;
    return !calls.areNone && timers.running + outside.running === 0 && !turns.areWaiting;
  }

  due(id: string): void {
    const active = this.#active;
    if (active?.run.id === id) active.isDue = true;
  }

  cancel(id: string): void {
    const active = this.#active;
    if (active?.run.id === id) this.#end(active, { outcome: "cancelled", value: NO_VALUE });
  }

  endQuery(): void {
    const why = "the request has ended";
    this.#parts.results.endQuery();
    look.setEach(this.#contexts, (context) => {
      context.ended ||= why;
    });
    this.#contexts = new look.Set();
    this.#parts.timers.stop("all");
    this.#parts.calls.abort(null, `Cancelled: ${why}`);
    this.#parts.outside.abort(null, why);
  }

  #watch(deadline: number | null): void {
    if (this.#timer !== null) captured.clearTimeout(this.#timer);
    const left = deadline === null ? 0 : deadline - captured.now();
    this.#timer = deadline === null ? null : captured.setTimeout(() => this.#onDue(), left > 0 ? left : 0);
  }

  /** The child reports no pause before a deadline, because a report for each call would slow calls down. */
  #onDue(): void {
    this.#timer = null;
    const active = this.#active;
    if (!active || active.ending) return;
    const { pausedAt, deadline } = active, now = captured.now();
    if (pausedAt !== null) return this.#reportWaits(active, deadline + now - pausedAt);
    if (deadline - now < 1) return this.#end(active, { outcome: "timeout", value: NO_VALUE });
    this.#reportWaits(active, deadline);
    this.#watch(deadline);
  }

  #resume(active: Active): void {
    if (active.pausedAt === null) return;
    active.deadline += captured.now() - active.pausedAt;
    active.pausedAt = null;
    if (this.#timer !== null || active.ending) return;
    this.#reportWaits(active, active.deadline);
    this.#watch(active.deadline);
  }

  #reportWaits({ run, begun, pausedAt }: Active, deadline: number): void {
    this.#parts.pipe.send({
      t: "waited",
      id: run.id,
      ms: deadline - begun - run.deadlineMs,
      goesOn: pausedAt !== null,
    });
  }

  #start(active: Active): void {
    if (active.ending) return;
    const { run } = active;
    try {
      const { variables } = this.#parts;
      active.hides = this.#hiddenBy(run.block.defined);
      variables.begin(run.block, run.block.defined);
      const { declarations } = run.block;
      const made = (value: object, name: string): void => variables.functions.made(value, { name, declarations });
      const script = new captured.Script(run.block.code, { filename: run.block.file });
      // The child calls the block's function itself, because the runtime's script would write a stack into a thrown
      // value.
      const value: unknown = captured.apply(script.runInThisContext(), undefined, [made]);
      if (!captured.isPromise(value)) return this.#finish(active, value);
      if (!run.block.awaits) active.returned = value;
      captured.apply(captured.then, value, [
        (result: unknown) => this.#finish(active, result),
        (error: unknown) => this.#fail(active, error),
      ]);
    } catch (error) {
      this.#fail(active, error);
    }
  }

  #hiddenBy(defined: readonly string[]): readonly string[] {
    const { names, variables } = this.#parts;
    const hidden = bareList<string>();
    for (let i = 0; i < defined.length; i++) {
      const name = defined[i]!;
      if (names.kindOf(name) !== null && !variables.has(name)) hidden[hidden.length] = name;
    }
    return hidden;
  }

  #noteHidden(hides: readonly string[]): void {
    const { names, notes, variables } = this.#parts;
    for (let i = 0; i < hides.length; i++) {
      const name = hides[i]!, kind = names.kindOf(name);
      if (!variables.has(name)) continue; // The block did not reach its declaration.
      notes.add(`${name} is now your variable; the original is ${kind === "ext" ? "vis.ext" : "vis"}.${name}`);
    }
  }

  #finish(active: Active, returned: unknown): void {
    const isDeclared = returned === undefined;
    const value = isDeclared ? this.#declared(active.run.block.shows) : returned;
    const isNothing = value === undefined && !this.#isAsked(active.run.block.asks);
    this.#end(active, { outcome: isNothing ? "none" : "value", value, isDeclared });
  }

  /** `thrownError` may run a getter of the block, so the call must happen in the block's turn. */
  #fail(active: Active, thrown: unknown): void {
    if (active.ending) return;
    const ending: Ending = { outcome: "error", value: NO_VALUE, error: thrownError(thrown, this.#parts.preview) };
    if (this.#parts.calls.areOpen(active.context)) active.thrown = ending;
    else this.#end(active, ending);
  }

  #isAsked(asks: "call" | "value" | null): boolean {
    return asks === "value" || (asks === "call" && this.#parts.output.printed === "");
  }

  #declared(name: string | null): unknown {
    const value = name === null ? NO_VALUE : this.#parts.variables.lookup(name);
    return typeof value === "function" || captured.isPromise(value) ? NO_VALUE : value;
  }

  #declaredText(name: string | null, value: unknown): string {
    const more = `\n(a declaration shows ${DECLARED_CHARS} characters: print(${name}) shows more)`;
    return this.#parts.preview(value, { chars: DECLARED_CHARS, more });
  }

  #end(active: Active, { outcome, ...rest }: Ending): void {
    if (active.ending) return;
    // The error is more useful than a timeout of calls that continued after the error.
    active.ending = outcome === "timeout" && active.thrown ? active.thrown : { outcome, ...rest };
    this.#parts.turns.afterwards(() => this.#settle(active, outcome));
  }

  #settle(active: Active, outcome: Ending["outcome"]): void {
    this.#watch(null);
    if (outcome === "timeout" || outcome === "cancelled") this.#abandon(active, outcome);
    // Waits for the next turn, because the limit still covers a loop of microtasks that the block left running.
    captured.setImmediate(() => {
      try {
        if (active.ending) this.#report(active, active.ending);
      } catch (error) {
        this.#parts.end(`a block broke the realm (${this.#parts.preview(error)})`);
      }
    });
  }

  #abandon(active: Active, outcome: "timeout" | "cancelled"): void {
    this.#stopWork(active.context, outcome === "timeout" ? timedOut(active.run.deadlineMs) : "Cancelled");
  }

  #stopWork(owner: RunContext | null, why: string): void {
    this.#parts.timers.stop(owner);
    if (owner === null) return;
    owner.ended = why;
    this.#parts.calls.abort(owner, why);
    this.#parts.outside.abort(owner, why);
  }

  #report(active: Active, ending: Ending): void {
    const { run, begun } = active;
    const { pipe, names, notes, output, preview, results } = this.#parts;
    pipe.send({ t: "settled", id: run.id });
    this.#active = null;
    names.restore({
      restored: (name) => notes.add(broughtBack(name)),
      fixed: (name) => notes.add(madePermanent(name)),
    });
    const { outcome, value, isDeclared } = ending;
    const hasValue = outcome === "value" || outcome === "none";
    results.add(run.index, { value: hasValue ? value : NO_VALUE, printed: output.printed });
    const shown = outcome !== "value" ? "" : isDeclared ? this.#declaredText(run.block.shows, value) : preview(value);
    if (showsPromise(output.printed) || showsPromise(shown)) notes.add(`Block ${run.index + 1} ${SHOWS_PROMISE}`);
    const error = ending.error
      ? ending.error
      : outcome === "timeout"
      ? { name: "Timeout", message: timedOut(run.deadlineMs), advice: "", frames: [] }
      : outcome === "cancelled"
      ? { name: "Cancelled", message: CANCELLED, advice: "", frames: [] }
      : null;
    sendReport(this.#parts, {
      run,
      ending,
      preview: shown,
      error,
      ms: captured.now() - begun,
      noteVariables: () => this.#noteHidden(active.hides),
    });
  }
}

const DECLARED_CHARS = 500;

function showsPromise(text: string): boolean {
  return look.indexOf(text, "Promise { <pending> }") >= 0 || look.indexOf(text, "[object Promise]") >= 0;
}

const MAX_VALUE_BYTES = 1 << 20;

interface Finished {
  readonly run: RunRequest;
  readonly ending: Ending;
  readonly preview: string;
  readonly error: ThrownError | null;
  readonly ms: number;
  readonly noteVariables: () => void;
}

function sendReport(parts: BlockParts, { run, ending, preview, error, ms, noteVariables }: Finished): void {
  const { pipe, compiler, output, notes, variables, isQuiet } = parts;
  const { id, block } = run;
  const dropped = output.end();
  const { saved, touched, pending, lost } = variables.afterBlock(block, { ok: error === null });
  noteVariables();
  const hasValue = ending.outcome === "value";
  const shown = hasValue ? summarize(ending.value, { declaration: "", doc: "" }) : null;
  const images = imageParts(saved);
  for (let i = 0; i < images.length - 1; i++) {
    pipe.send({ t: "done", id, more: true, error: null, rests: false }, encode(images[i]));
  }
  const payload = encode({
    saved: images[images.length - 1],
    outcome: ending.outcome,
    preview,
    type: shown?.type ?? "",
    size: shown?.size ?? null,
    dropped,
    ms,
    defined: block.defined,
    touched,
    pending,
    lost,
    repaired: block.repaired,
    reads: block.reads,
    madeFrom: block.madeFrom,
    literal: block.literal,
    notes: notes.take(),
    value: hasValue ? valueBytes(ending.value) : null,
  });
  const described = error === null ? null : compiler.describe(error);
  pipe.send({ t: "done", id, more: false, error: described, rests: isQuiet() }, payload);
}

function valueBytes(value: unknown): Bytes | null {
  try {
    return encode(value, { maxBytes: MAX_VALUE_BYTES });
  } catch {
    return null;
  }
}

export interface BlockParts {
  readonly pipe: Pipe;
  readonly compiler: Compiler;
  readonly end: (why: string | null) => void;
  readonly isQuiet: () => boolean;
  readonly turns: TimedTasks;
  readonly output: Output;
  readonly calls: HostCalls;
  readonly outside: OutsideWork;
  readonly timers: Timers;
  readonly names: InjectedNames;
  readonly notes: Notes;
  readonly results: ShownResults;
  readonly variables: RealmVariables;
  readonly preview: (value: unknown, bounds?: { readonly chars?: number; readonly more?: string }) => string;
}
