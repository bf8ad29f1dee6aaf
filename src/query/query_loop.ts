import { setImmediate as nextTurn } from "node:timers/promises";
import { HandedOver } from "../domain/errors.ts";
import { clip } from "../domain/kit/text.ts";
import type { BlockDiff, HostCallEvent } from "../domain/query/calls.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import type { Emitter } from "../domain/query/query_event.ts";
import { endedChild, type StepChild } from "../domain/query/query_progress.ts";
import type { QueryResult } from "../domain/query/query_schemas.ts";
import type { SteeredMessage } from "../domain/query/stored_query.ts";
import { ChangedFiles, QueryWork } from "../domain/query/work.ts";
import type { Environment } from "../environment/environment.ts";
import type { ActiveExtensions } from "../extension/active.ts";
import { claimOf } from "../iteration/claims.ts";
import {
  type AcceptedFinal,
  type Doubt,
  DOUBTS,
  type Iterated,
  type IterationFault,
  type IterationFrame,
  type IterationInput,
  type IterationResult,
  type OfferedAnswer,
  storedResult,
} from "../iteration/iteration.ts";
import { runIteration } from "../iteration/run_iteration.ts";
import type { Log } from "../logging/log.ts";
import type { EndOfIteration, PreviousTurn, StoredIteration } from "../persistence/store.ts";
import {
  Attempts,
  type ContextCaps,
  type ContextParts,
  type EarlierIteration,
  MAX_EARLIER,
  renderEarlier,
  renderVarIndex,
} from "../prompt/context.ts";
import { builtinNudges, extensionNudges, type NudgeWarning, Repetition } from "../prompt/nudges.ts";
import type { RequestExtras } from "../prompt/prompt.ts";
import type { Reply } from "../prompt/reply/reply.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import { decode } from "../sandbox/codec/codec.ts";
import type { Ledger, QueryDeadline } from "./limits.ts";
import type { QueryApprovals } from "./query_approvals.ts";
import type { QueryParts, QuerySettings } from "./query_parts.ts";
import type { Subcalls } from "./subcalls.ts";

export interface BegunQuery {
  readonly queryId: string;
  readonly request: string;
  readonly started: number;
  readonly before: PreviousTurn | null;
  readonly extras: RequestExtras;
  readonly signal: AbortSignal;
  readonly deadline: QueryDeadline;
  readonly parts: QueryParts;
  readonly state: QueryState;
  readonly ledger: Ledger;
  readonly approvals: QueryApprovals;
  /** Returns the milliseconds in which a question to the user was open. No duration includes them. */
  readonly askedMs: () => number;
  readonly subcalls: Subcalls;
  readonly emitter: Emitter;
  readonly showsOutput: boolean;
  readonly onChange: (diff: string) => void;
}

export interface Prepared extends BegunQuery {
  readonly frame: IterationFrame;
  readonly active: ActiveExtensions;
  readonly handover: ContextParts["handover"];
}

const MAX_CONSECUTIVE_ERRORS = 5;
const MAX_RESTARTS = 3;
const MAX_SANDBOX_NOTES = 20;

const PROSE = "The model wrote this as plain text, not in the form that it was asked for";

type Finished = Exclude<IterationResult, { readonly kind: "cancelled" }>;

/** The decisions between iterations; see the table of states in docs/internals/architecture.md. */
export class QueryLoop {
  readonly #prepared: Prepared;
  readonly #leaving: AbortSignal | null;
  readonly #repetition = new Repetition();
  /** Ends the call under way if the previous iteration could not be stored. */
  readonly #unstored = new AbortController();
  #stored: Promise<void> = Promise.resolve();
  #last: Iterated["store"] | null = null;
  /** Whether the end of an iteration is stored, and the request with it. */
  #begun = false;

  /** When `leaving` aborts, the query stops before its next iteration, and another process continues it. */
  constructor(prepared: Prepared, leaving: AbortSignal | null = null) {
    this.#leaving = leaving;
    const { frame } = prepared;
    const signal = AbortSignal.any([frame.signal, this.#unstored.signal]);
    this.#prepared = { ...prepared, frame: { ...frame, signal } };
  }

  /** Iterates until the query has a reason to end. An accepted final is in the state. The end of each iteration is
   * stored while the next one's model call is under way. */
  async run(): Promise<QueryReason> {
    try {
      return await this.#decide();
    } catch (error) {
      await this.#stored.catch(() => {});
      throw error;
    }
  }

  /** Restores the state in which another process left the query. The model learns which blocks were under way. */
  continueFrom(iterations: readonly StoredIteration[], steered: readonly SteeredMessage[]): void {
    const { state } = this.#prepared;
    for (const stored of iterations) {
      state.notes.length = 0;
      const { budget } = stored.metadata;
      if (typeof budget === "number" && budget > state.budget) state.requestMore(budget - state.budget);
      if (stored.status === "interrupted") {
        state.position++;
        const { pendingBlocks } = stored.metadata;
        state.notes.push(...cutBlocks(Array.isArray(pendingBlocks) ? pendingBlocks.map(String) : []));
        continue;
      }
      if (state.consecutiveErrors >= MAX_CONSECUTIVE_ERRORS) this.#restart();
      this.#take(storedResult(stored));
    }
    const done = iterations.findLast(({ status }) => status !== "interrupted")?.position ?? -1;
    // The call that showed these messages was cut off.
    const unseen = steered.filter(({ iteration }) => iteration > done + 1);
    state.notes.push(...unseen.map(({ text }) => `The user says meanwhile: ${clip(text, 2_000)}`));
  }

  /** Stores the last iteration and the end of the query, in one transaction if the iteration is not stored yet. Rejects
   * with `StoreError` or a defect. */
  async end(write: (last?: EndOfIteration) => Promise<void>): Promise<void> {
    const { state: { final }, frame } = this.#prepared;
    await (this.#last ? this.#last((iterationId, iteration) => write({ iterationId, iteration })) : this.#stored);
    if (final) frame.emitter.send({ type: "answer_delta", delta: final.answer });
    if (!this.#last) await write();
  }

  async #decide(): Promise<QueryReason> {
    const { state, frame } = this.#prepared;
    for (;;) {
      if (frame.signal.aborted) return "cancelled";
      if (this.#leaving?.aborted) {
        await this.#stored;
        throw new HandedOver(frame.queryId);
      }
      const limit = this.#prepared.ledger.reached();
      if (limit) return limit;
      if (state.consecutiveErrors >= MAX_CONSECUTIVE_ERRORS && state.restarts >= MAX_RESTARTS) {
        return await this.#lastCall("error_budget");
      }
      if (state.used >= state.budget) return await this.#lastCall("max_iterations");
      if (state.consecutiveErrors >= MAX_CONSECUTIVE_ERRORS) this.#restart();
      const result = await this.#iterate({ last: null });
      const reason = this.#take(result);
      if (reason) return reason;
    }
  }

  async #iterate({ last }: Pick<ContextSource, "last">): Promise<IterationResult> {
    const { state, frame, active, handover, parts, request, ledger } = this.#prepared;
    const { environment, log } = frame;
    const { caps } = parts.settings;
    state.notes.push(...await parts.between?.(frame.signal) ?? []);
    const steered = await this.#steered();
    const context = await buildContext({
      environment,
      active,
      state,
      repetition: this.#repetition,
      caps,
      handover,
      steered,
      log,
      last,
    });
    state.beginIteration();
    const input: IterationInput = {
      position: state.position,
      context,
      steered,
      reasoning: reasoningLevel({
        configured: parts.settings.reasoning ?? null,
        asked: state.next.reasoning,
        consecutiveErrors: state.consecutiveErrors,
      }),
      prefer: state.next.model,
      last: last !== null,
      refusedBefore: state.refused,
      supported: state.supported,
      doubted: last === null ? state.doubted : DOUBTS, // No call could follow a refusal.
      unsupportedClaim: (text) => this.#unsupportedClaim(text),
      offered: () => state.offered,
      diffs: state.diffs,
      children: state.children,
      asked: state.asked,
      stored: this.#stored,
      totals: () => ({ iterations: state.position + 1, ...ledger.spent }),
      system: this.#begun ? [] : [{ name: "$query", text: request }],
    };
    const { result, store } = await runIteration(frame, input);
    if (result.kind === "cancelled" && result.begun) state.cutOff(result.begun);
    if (result.kind === "final") this.#last = store;
    else {
      this.#stored = afterRequest(store);
      this.#stored.catch(() => this.#unstored.abort()); // The code that ends the query receives the error.
    }
    return result;
  }

  /** An answer may be about the work of an earlier request, or about a text that came with the request. */
  #unsupportedClaim(text: string): string | null {
    const { state, request, extras, before, frame: { environment: { given } } } = this.#prepared;
    if (state.acted || before?.idle === false) return null;
    return claimOf(text, { request, given: extras.images.length + given.shown.length > 0 });
  }

  /** Returns the user's messages since the last call. They are stored before a call shows them. */
  async #steered(): Promise<readonly string[]> {
    const { parts, frame, state } = this.#prepared;
    const iteration = state.position + 1;
    return await parts.steering?.take((texts) => parts.store.addSteered(frame.queryId, { iteration, texts })) ?? [];
  }

  #take(result: IterationResult): QueryReason | null {
    const { state } = this.#prepared;
    if (result.kind === "cancelled") return "cancelled";
    const shown = state.used + 1;
    state.hasFailed = false;
    this.#remember(result, shown);
    const reason = this.#count(result);
    if (reason === null && result.entries.length > 0 && this.#repetition.news) state.extend();
    return reason;
  }

  #count(result: Finished): QueryReason | null {
    const { state } = this.#prepared;
    if (!("fault" in result) || result.fault === null) state.faults.clear();
    if (result.kind !== "failed" || result.prose === null) state.prose = null;
    if (result.entries.some((entry) => entry.result.ok)) {
      state.consecutiveErrors = 0;
      state.supported = true;
    }
    switch (result.kind) {
      case "final":
        state.used++;
        state.final = result.final;
        return "answered";
      case "failed": {
        state.failed(result.reason);
        state.temporary = result.temporary;
        // Neither the connection nor the service is the model's fault.
        if (result.fault !== "broken" && result.fault !== "call") state.unusable();
        if (result.entries.length === 0) {
          state.notes.push(`The previous call gave no usable reply: ${clip(result.reason, 1500)}`);
        }
        if (result.refused) this.#refuse(result.refused);
        if (result.unsupported !== null) return this.#unsupported(result.unsupported, result.refused ?? result.reason);
        if (result.fatal) return "provider";
        if (result.fault === null) return null;
        return this.#prose(result.prose) ?? state.faults.add(result.fault, { ...result, text: result.reason });
      }
      case "refused":
        state.used++;
        this.#refuse(result.reason);
        return result.unsupported === null ? null : this.#unsupported(result.unsupported, result.reason);
      case "executed":
        state.used++;
        state.refused = null;
        return null;
      case "empty":
        state.used++;
        state.notes.push("The last reply had neither code nor final: send blocks to run, or the final answer");
        return state.faults.add(result.fault, { ...result, text: "" });
    }
  }

  #remember(result: Finished, shown: number): void {
    const { state } = this.#prepared;
    this.#begun = true;
    state.next = result.next;
    for (const { result: { calls } } of result.entries) {
      for (const call of calls) state.work.take(call);
    }
    if (result.doubt !== null) state.doubted.push(result.doubt);
    state.repaired = result.repairs.join(", ");
    state.think(result.thinking);
    state.notes.push(...result.sandboxNotes.slice(0, MAX_SANDBOX_NOTES).map((text) => clip(text, 500)));
    if (result.entries.length > 0) {
      state.show({ entries: result.entries, iteration: shown, position: state.position });
      this.#repetition.record(result.entries);
    }
    const reason = result.kind === "failed" || result.kind === "refused" ? result.reason : null;
    const { entries, kind } = result;
    state.attempts.add({ iteration: shown, position: state.position, entries, outcome: kind, reason });
    state.position++;
  }

  #refuse(reason: string): void {
    const { state } = this.#prepared;
    state.refused = reason;
    state.notes.push(`Your final answer was refused: ${clip(reason, 1500)}`);
  }

  #unsupported(answer: string, reason: string): QueryReason {
    this.#prepared.state.unsupported = { answer, reason };
    return "unsupported_answer";
  }

  /** A second consecutive reply of plain text is the answer if a block of the query had a result. Otherwise no
   * computation supports it. */
  #prose(text: string | null): QueryReason | null {
    const { state } = this.#prepared;
    const repeated = text !== null && state.prose !== null;
    state.prose = text;
    if (!repeated || !state.supported || text.trim() === "") return null;
    state.final = { answer: text.trim(), answerType: "markdown", confidence: "low", notes: [PROSE] };
    return "answered";
  }

  #restart(): void {
    const { state } = this.#prepared;
    const errors = state.errors.map((error) => `- ${clip(error, 500)}`).join("\n");
    state.restart();
    state.notes.push(
      `Several attempts in a row failed; start again with another approach. All variables are kept. First errors:\n${errors}`,
    );
  }

  /** Makes one more call that asks for the best answer from the present results. If it returns none, the fallback
   * answer is used. */
  async #lastCall(reason: "max_iterations" | "error_budget"): Promise<QueryReason> {
    const { state } = this.#prepared;
    const why = reason === "max_iterations" ? "The iteration budget is used up" : "Too many errors in a row";
    const result = await this.#iterate({ last: why });
    if (result.kind === "cancelled") return "cancelled";
    this.#remember(result, state.used + 1);
    if (result.kind === "final") state.final = { ...result.final, confidence: "low" };
    else if (result.kind === "failed") state.failed(result.reason);
    return reason;
  }
}

/** Stores an iteration once the next request is sent (within two turns of the event loop), so that both overlap. */
async function afterRequest(store: () => Promise<void>): Promise<void> {
  await nextTurn();
  await nextTurn();
  await store();
}

const LEVELS: readonly ReasoningLevel[] = ["quick", "balanced", "deep"];

/** Returns the user's setting, else the model's choice for this iteration, else balanced. Each consecutive error raises
 * the last one by a step. */
export function reasoningLevel(
  { configured = null, asked, consecutiveErrors }: {
    readonly configured?: ReasoningLevel | null;
    readonly asked: ReasoningLevel | null;
    readonly consecutiveErrors: number;
  },
): ReasoningLevel {
  const wanted = configured ?? asked;
  if (wanted) return wanted;
  return LEVELS[Math.min(LEVELS.length - 1, 1 + consecutiveErrors)] ?? "balanced";
}

const MAX_DIFF_CHARS = 64 * 1024;
/** Limits for the sub-queries that are stored with an iteration, and for the characters of each answer. */
const MAX_CHILDREN = 20, CHILD_CHARS = 1_000;
const MAX_ASKED = 50;
/** Once `LOW` iterations are left, the budget grows by `EXTENSION`. */
const LOW = 2, EXTENSION = 4;
/** This many first replies without a result do not count against the budget. */
const FREE_FAILURES = 4;

export class QueryState {
  readonly #ceiling: number;
  readonly #extending: boolean;
  #budget: number;
  #offered: OfferedAnswer | null = null;
  position = 0;
  used = 0;
  hasFailed = false;
  failures = 0;
  consecutiveErrors = 0;
  restarts = 0;
  supported = false;
  readonly work: QueryWork = new QueryWork();
  readonly errors: string[] = [];
  readonly doubted: Doubt[] = [];
  readonly faults = new Faults();
  refused: string | null = null;
  temporary = false;
  isCutOff = false;
  thinking = "";
  thoughts = 0;
  prose: string | null = null;
  unsupported: { readonly answer: string; readonly reason: string } | null = null;
  readonly changed: ChangedFiles = new ChangedFiles();
  readonly diffs: BlockDiff[] = [];
  /** The sub-queries of the iteration that have ended. They are stored for users, not for the model. */
  readonly children: StepChild[] = [];
  readonly asked: string[] = [];
  journal: EarlierIteration | null = null;
  /** Iterations whose results stay in view after the journal has moved on, oldest first. */
  earlier: readonly EarlierIteration[] = [];
  readonly attempts: Attempts = new Attempts();
  readonly notes: string[] = [];
  next: Reply["next"] = { model: null, reasoning: null };
  repaired = "";
  final: AcceptedFinal | null = null;

  constructor({ budget, ceiling, extending = false }: Pick<QuerySettings, "budget" | "ceiling" | "extending">) {
    this.#ceiling = ceiling ?? Infinity;
    this.#budget = Math.min(budget, this.#ceiling);
    this.#extending = extending;
  }

  get budget(): number {
    return this.#budget;
  }
  /** Whether the budget grows with progress, only if the model requests it, or not at all at its ceiling. */
  get growth(): "new" | "request" | "none" {
    if (this.#budget >= this.#ceiling) return "none";
    return this.#extending ? "new" : "request";
  }
  get acted(): boolean {
    return this.work.acted || this.changed.total !== "";
  }
  get offered(): OfferedAnswer | null {
    return this.#offered;
  }

  requestMore(n: number): { granted: number; budget: number } {
    const budget = Math.min(this.#budget + Math.max(1, Math.floor(n)), this.#ceiling);
    const granted = budget - this.#budget;
    this.#budget = budget;
    return { granted, budget };
  }

  /** Extends the budget after an iteration that made progress. The model sees the larger budget before the old one
   * ends, so that it does not hurry. */
  extend(): void {
    if (this.growth === "new" && this.#budget - this.used <= LOW) this.requestMore(EXTENSION);
  }

  /** Only the first answer of an iteration counts. */
  offer(answer: OfferedAnswer): void {
    this.#offered ??= answer;
  }

  beginIteration(): void {
    this.#offered = null;
    this.diffs.length = 0;
    this.children.length = 0;
    this.asked.length = 0;
  }

  keepDiffs({ block, diffs = [] }: Pick<HostCallEvent, "block" | "diffs">): void {
    const kept = this.diffs.reduce((sum, { diff }) => sum + diff.length, 0);
    if (kept < MAX_DIFF_CHARS) this.diffs.push(...diffs.map((diff) => ({ block, diff })));
  }

  keepAsked(text: string): void {
    if (this.asked.length < MAX_ASKED) this.asked.push(text);
  }

  keepChild(request: string, result: QueryResult): void {
    if (this.children.length >= MAX_CHILDREN) return;
    const { done, ...child } = endedChild(request, result);
    this.children.push({ ...child, done: done && { ...done, text: done.text.slice(0, CHILD_CHARS) } });
  }

  failed(text: string): void {
    this.consecutiveErrors++;
    if (this.errors.length < 3) this.errors.push(text);
  }

  show(journal: EarlierIteration): void {
    this.#displace();
    this.journal = journal;
  }

  #displace(): void {
    if (this.journal) this.earlier = [...this.earlier, this.journal].slice(-MAX_EARLIER);
  }

  think(thinking: string): void {
    if (thinking === "") return;
    this.thinking = thinking;
    this.thoughts++;
  }

  /** Counts a step whose blocks were cut off. It is stored, and may have changed something. */
  cutOff({ thinking }: { readonly thinking: string }): void {
    this.think(thinking);
    this.position++;
    this.isCutOff = true;
  }

  unusable(): void {
    this.hasFailed = true;
    if (++this.failures > FREE_FAILURES) this.used++;
  }

  restart(): void {
    this.restarts++;
    this.consecutiveErrors = 0;
    this.#displace();
    this.earlier = this.earlier.filter(({ entries }) => entries.some(({ result }) => result.ok));
    this.journal = null;
    this.refused = null;
    this.errors.length = 0;
  }
}

/** This many consecutive replies with the same fault end the query. The model has seen the fault and cannot avoid it. */
const SAME = 3;
/** A broken reply is the fault of the connection, so Vis tolerates more of them. */
const BROKEN = 5;
/** This many consecutive unusable replies end the query, whatever their faults. */
const UNUSABLE = 5;

export interface Unusable {
  readonly model: string;
  readonly count: number;
  readonly fault: IterationFault | null;
}

export class Faults {
  #what = "";
  #same = 0;
  #replies = 0;
  #unusable: Unusable | null = null;

  get unusable(): Unusable | null {
    return this.#unusable;
  }

  /** `text` distinguishes faults of calls. Returns the reason if the query must end, else null. */
  add(
    fault: IterationFault,
    { text, model }: { readonly text: string; readonly model: string },
  ): Extract<QueryReason, "provider" | "unusable_replies"> | null {
    const what = fault === "call" ? `call: ${text}` : fault;
    this.#same = what === this.#what ? this.#same + 1 : 1;
    this.#what = what;
    if (fault === "broken") return this.#same >= BROKEN ? "provider" : null;
    if (fault === "call") return this.#same >= SAME ? "provider" : null;
    this.#replies++;
    if (this.#same >= SAME) this.#unusable = { model, count: this.#same, fault };
    else if (this.#replies >= UNUSABLE) this.#unusable = { model, count: this.#replies, fault: null };
    return this.#unusable === null ? null : "unusable_replies";
  }

  clear(): void {
    this.#what = "";
    this.#same = 0;
    this.#replies = 0;
  }
}

const STEERING_CHARS = 2_000;

interface ContextSource {
  readonly environment: Environment;
  readonly active: ActiveExtensions;
  readonly state: QueryState;
  readonly repetition: Repetition;
  readonly caps: ContextCaps;
  readonly handover: ContextParts["handover"];
  readonly steered: readonly string[];
  readonly log: Log;
  readonly last: string | null;
}

/** Returns the parts of the next context message. Takes the notes that are due, because each is shown only once. */
export async function buildContext(source: ContextSource): Promise<ContextParts> {
  const { environment, state, caps, steered } = source;
  const notes = [
    ...steered.map((text) => `The user says meanwhile: ${clip(text, STEERING_CHARS)}`),
    ...state.notes.splice(0),
    ...environment.takeNotes(),
  ];
  const { journal } = state;
  const fresh = state.thinking === "" && journal === null && state.earlier.length === 0;
  const earlier = renderEarlier(state.earlier, { journal: journal?.entries ?? [], caps });
  const shown = new Set([...earlier.positions, ...(journal ? [journal.position] : [])]);
  return {
    iteration: state.used + 1,
    budget: state.budget,
    last: source.last !== null,
    notes: source.last === null ? notes : [lastNote(source.last, notes.length), ...notes],
    handover: fresh ? source.handover : null,
    thinking: state.thinking,
    thoughts: state.thoughts,
    journal: journal?.entries ?? [],
    journalIteration: journal?.iteration ?? null,
    earlier: earlier.text,
    failures: state.hasFailed ? state.failures : 0,
    changed: state.changed.line,
    attempts: state.attempts.newest(caps.attempts, shown),
    index: environment.index.rendered((heads) => renderVarIndex(heads, caps)),
    nudges: await nudges(source),
    caps,
  };
}

/** This note precedes the others, which may ask for actions that the last call cannot take. */
function lastNote(why: string, others: number): string {
  const still = others > 0 ? ", whatever a note below asks for" : "";
  return `${why}: this is the last call and no block runs any more${still}. Give "final" now: the best answer from the variables and results that exist, and what is missing.`;
}

async function nudges(source: ContextSource): Promise<string[]> {
  const { environment, active, state, repetition, log } = source;
  const own = builtinNudges({
    used: state.used,
    budget: state.budget,
    growth: state.growth,
    userVariables: environment.index.userCount(),
    offender: repetition.offender(),
    stale: repetition.isStale,
    repaired: state.repaired,
    last: source.last !== null,
  });
  const entries = state.journal?.entries ?? null;
  const context = {
    environment: environment.view(),
    iteration: state.used,
    currentMaxIterations: state.budget,
    prevExpressions: entries?.map(({ code, result, value }) => ({
      code,
      get result(): unknown {
        return value ? decode(value) : undefined;
      },
      preview: result.preview,
      ...(result.error ? { error: `${result.error.name}: ${result.error.message}` } : {}),
      stdout: result.stdout,
      stderr: result.stderr,
      executionTimeMs: result.ms,
      timedOut: result.timedOut,
      repaired: result.repaired !== null,
    })) ?? null,
    prevIteration: state.journal ? state.journal.iteration - 1 : -1,
    userVarCount: environment.index.userCount(),
  };
  const texts = (source.last !== null ? [] : active.nudges).map(async ({ namespace, nudge }) => ({
    namespace,
    text: await nudge(context),
  }));
  const onWarn = (warning: NudgeWarning) => log.warn("nudge_skipped", { ...warning });
  return [...own, ...extensionNudges(await Promise.all(texts), onWarn)];
}

/** Limits for interrupted blocks: their number, and the characters that they share. */
const CUT = { blocks: 5, chars: 300 };

export function handoverOf(before: PreviousTurn | null): ContextParts["handover"] {
  if (!before) return null;
  const { text, thinkings, answer, status, images = 0, pending = [], notes = [], diffs = [] } = before;
  const files = new ChangedFiles();
  for (const diff of diffs) files.add(diff);
  const seen = images === 0 ? "" : `\n[with ${images} ${images === 1 ? "image" : "images"}, not shown again]`;
  return {
    request: text + seen,
    thinkings,
    ...(files.line === "" ? {} : { changed: files.line, diff: diffs.join("\n") }),
    answer: [answer, ...notes.map((note) => `[${note}]`), ...cutBlocks(pending)].join("\n"),
    ...(status === "done" ? {} : { unfinished: true }),
  };
}

/** Returns the blocks that ran when the process ended. The model must check whether to repeat them. */
function cutBlocks(pending: readonly string[]): string[] {
  if (pending.length === 0) return [];
  const [these, they] = pending.length === 1 ? ["this block", "it"] : [`these ${pending.length} blocks`, "they"];
  const shown = pending.slice(0, CUT.blocks).map((code, at) => `[${at + 1}] ${clip(code, CUT.chars)}`);
  return [
    `It ended while ${these} ran. What ${they} defined or changed is gone; what ${they} did outside may have happened:`,
    ...shown,
  ];
}
