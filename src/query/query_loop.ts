import { setImmediate as nextTurn } from "node:timers/promises";
import { HandedOver } from "../domain/errors.ts";
import { clip } from "../domain/kit/text.ts";
import { storedDiffs } from "../domain/query/host_call.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import type { Emitter } from "../domain/query/query_event.ts";
import type { SteeredMessage } from "../domain/query/stored_query.ts";
import type { ActiveExtensions } from "../extension/active_extensions.ts";
import { QueryState } from "./query_state.ts";
import { bindMessages, buildContext, type ContextSource, cutBlocks } from "./build_context.ts";
import { claimOf, findingFiles } from "../iteration/answer_claims.ts";
import {
  DOUBTS,
  type Iterated,
  type IterationFrame,
  type IterationInput,
  type IterationResult,
  storedResult,
} from "../iteration/iteration.ts";
import { runIteration } from "../iteration/run_iteration.ts";
import type { EndOfIteration, PreviousTurn, StoredIteration } from "../persistence/store.ts";
import { type ContextParts } from "../prompt/context_message.ts";
import { Repetition } from "../prompt/nudges.ts";
import { readingModeOf, type RequestExtras } from "../prompt/prompt.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import type { Ledger, QueryDeadline } from "./limits.ts";
import type { QueryApprovals } from "./query_approvals.ts";
import type { QueryParts } from "./query_settings.ts";
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
  readonly askedMs: () => number;
  readonly subcalls: Subcalls;
  readonly emitter: Emitter;
  readonly output: Emitter;
  readonly keptFiles: string;
  readonly onChange: (diff: string) => void;
  /** After an undo by the user, the query no longer counts the undone changes, and the next context has a note. */
  readonly takeUndone: () => Promise<void>;
}

export interface Prepared extends BegunQuery {
  readonly frame: IterationFrame;
  readonly active: ActiveExtensions;
  readonly handover: ContextParts["handover"];
}

export const MAX_CONSECUTIVE_ERRORS = 5;
const MAX_RESTARTS = 3;
const ALL_FAILED = `${MAX_CONSECUTIVE_ERRORS} iterations failed without a successful block between them`;
const MAX_SANDBOX_NOTES = 20;

type Finished = Exclude<IterationResult, { readonly kind: "cancelled" }>;

/** Decides between the iterations of a query. `tests/query/states/state_rows.ts` lists transitions. */
export class QueryLoop {
  readonly #prepared: Prepared;
  readonly #leaving: AbortSignal | null;
  readonly #repetition = new Repetition();
  /** If Vis cannot store the previous iteration, this controller ends the running model call. */
  readonly #unstored = new AbortController();
  #stored: Promise<void> = Promise.resolve();
  #last: Iterated["store"] | null = null;
  #begun = false;
  /** The model has not seen these messages of the user, because the call with them was interrupted. */
  readonly #unseen: string[] = [];

  /** When `leaving` aborts, the query stops before its next iteration, so that another process can continue it. */
  constructor(prepared: Prepared, leaving: AbortSignal | null = null) {
    this.#leaving = leaving;
    const { frame } = prepared;
    const signal = AbortSignal.any([frame.signal, this.#unstored.signal]);
    this.#prepared = { ...prepared, frame: { ...frame, signal } };
  }

  async run(): Promise<QueryReason> {
    try {
      return await this.#decide();
    } catch (error) {
      await this.#stored.catch(() => {});
      throw error;
    }
  }

  continueFrom(iterations: readonly StoredIteration[], steered: readonly SteeredMessage[]): void {
    const { state } = this.#prepared;
    for (const stored of iterations) {
      state.notes.length = 0;
      for (const diff of storedDiffs(stored.metadata)) state.changed.add(diff);
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
    for (const { text, iteration } of steered) (iteration > done + 1 ? this.#unseen : state.said).push(text);
    if (state.said.length > 0) bindMessages({ environment: this.#prepared.frame.environment, state });
  }

  /** If the last iteration gave the accepted final, one transaction stores this iteration and the end of the query. */
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
    await this.#prepared.takeUndone();
    const steered = await this.#steered();
    if (steered.length > 0) this.#prepared.approvals.forgetRefusals();
    const context = await buildContext({
      environment,
      active,
      state,
      repetition: this.#repetition,
      caps,
      handover,
      steered: [...this.#unseen.splice(0), ...steered],
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
      texts: [...state.texts],
      // After a refusal, the last call would leave no call for another answer.
      doubted: last === null ? state.doubted : DOUBTS,
      unsupportedClaim: (text) => this.#unsupportedClaim(text),
      missingFiles: (answer) => this.#missingFiles(answer),
      worked: () => this.#worked(),
      offered: () => state.offered,
      diffs: state.diffs,
      takeLate: () => state.late.splice(0),
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
      this.#stored.catch(() => this.#unstored.abort()); // `end` rejects with the error.
    }
    return result;
  }

  /** An answer may be about the work of the previous request, or about a text that came with the request. */
  #unsupportedClaim(text: string): string | null {
    const { state, request, extras, before, frame: { environment: { given } } } = this.#prepared;
    if (state.acted || before?.idle === false) return null;
    return claimOf(text, { request, given: extras.images.length + given.shown.length > 0 });
  }

  /** Reviewed changes may name a file that exists only in another commit. */
  async #missingFiles(answer: Parameters<IterationInput["missingFiles"]>[0]): Promise<readonly string[]> {
    const { parts, frame: { environment } } = this.#prepared;
    if (readingModeOf(parts.settings) !== "review") return [];
    const shown = environment.given.shown.map(({ text, whole }) => `${text}\n${whole ?? ""}`).join("\n");
    return await environment.missing(findingFiles(answer).filter((path) => !shown.includes(path)));
  }

  /** The success of a command does not answer a question. */
  #worked(): boolean {
    const { state: { changed, work }, request } = this.#prepared;
    return changed.total !== "" || work.changed || work.ran && !request.includes("?");
  }

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
    if (result.kind !== "failed" || result.prose === null) state.texts.length = 0;
    else state.texts.push(result.prose);
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
        // The model did not cause a fault of the connection or the service.
        if (result.fault !== "broken" && result.fault !== "call") state.unusable();
        if (result.entries.length === 0) {
          state.notes.push(`The previous call gave no usable reply: ${clip(result.reason, 1500)}`);
        }
        if (result.refused) this.#refuse(result.refused);
        if (result.unsupported !== null) return this.#unsupported(result.unsupported, result.refused ?? result.reason);
        if (result.fatal) return "provider";
        if (result.fault === null) return null;
        return state.faults.add(result.fault, { ...result, text: result.reason });
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
        state.unusable();
        state.notes.push("The last reply had neither code nor final: send blocks to run, or the final answer");
        return state.faults.add(result.fault, { ...result, text: "" });
    }
  }

  #remember(result: Finished, shown: number): void {
    const { state } = this.#prepared;
    this.#begun = true;
    state.next = result.next;
    for (const { result: { calls } } of result.entries) {
      for (const call of calls) {
        state.work.take(call);
        state.calls.take(call);
      }
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

  #restart(): void {
    const { state } = this.#prepared;
    const errors = state.errors.map((error) => `- ${clip(error, 500)}`).join("\n");
    state.restart();
    state.notes.push(
      `${ALL_FAILED}; start again with another approach. All variables are kept. First errors:\n${errors}`,
    );
  }

  async #lastCall(reason: "max_iterations" | "error_budget"): Promise<QueryReason> {
    const { state } = this.#prepared;
    const why = reason === "max_iterations" ? "The iteration budget is used up" : ALL_FAILED;
    const result = await this.#iterate({ last: why });
    if (result.kind === "cancelled") return "cancelled";
    this.#remember(result, state.used + 1);
    if (result.kind === "final") state.final = { ...result.final, confidence: "low" };
    else if (result.kind === "failed") state.failed(result.reason);
    return reason;
  }
}

/** These two turns of the event loop let Vis send the next model call before it stores the iteration. */
async function afterRequest(store: () => Promise<void>): Promise<void> {
  await nextTurn();
  await nextTurn();
  await store();
}

const LEVELS: readonly ReasoningLevel[] = ["quick", "balanced", "deep"];

/** The setting of the user takes precedence over the choice of the model. */
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
