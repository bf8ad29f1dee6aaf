import type { Emitter } from "../domain/query/emitter.ts";
import { StoreError, TakenOverError } from "../domain/errors.ts";
import { messageOf } from "../domain/kit/message_of.ts";
import { messageWithLine } from "../extension/loading/source_line.ts";
import { type QueryReason, type QueryResult, statusOf } from "../domain/query/query_result.ts";
import type { LastIteration } from "../iteration/iteration.ts";
import type { RequestExtras } from "../prompt/call_messages.ts";
import { oneLine } from "../domain/text/clip.ts";
import type { QueryDeadline } from "./deadline.ts";
import { fallbackAnswer } from "./fallback_answer.ts";
import type { Ledger } from "./ledger.ts";
import type { QueryParts } from "./query_parts.ts";
import type { QueryState } from "./query_state.ts";
import type { Subcalls } from "./subcalls.ts";
import type { TitleCall } from "./title_call.ts";

/** Notes about extensions in one result. */
const MOST_FAULTS = 5;

interface Ended {
  readonly queryId: string;
  readonly parts: QueryParts;
  readonly state: QueryState;
  readonly extras: RequestExtras;
  readonly ledger: Ledger;
  readonly subcalls: Subcalls;
  readonly emitter: Emitter;
  /** The call for the title, once it has begun. */
  readonly title: () => TitleCall | null;
  readonly deadline: QueryDeadline;
  readonly started: number;
}

/** What is left to be stored when a query ends. */
interface Done {
  /** Settles when the last iteration is stored and reported. */
  readonly stored: Promise<void>;
  /** The last iteration, if it is not being stored yet. */
  readonly last: LastIteration | null;
}

const NOTHING: Done = { stored: Promise.resolve(), last: null };

/** Ends one query: stores the end, then announces it. */
export class QueryEnding {
  readonly #query: Ended;
  #sent = false;

  constructor(query: Ended) {
    this.#query = query;
  }

  /** Stores the last iteration with the end. Rejects if they cannot be stored and there is no answer. Those who follow
   * the query are notified if another process took over. */
  async end(why: QueryReason, done: Done = NOTHING): Promise<QueryResult> {
    const { deadline, subcalls, title, parts: { store } } = this.#query;
    const reason = why === "cancelled" && deadline.passed ? "limit_time" : reasonOf(why, this.#query);
    const naming = title();
    // An answer does not wait for a title.
    if (naming) void done.last?.store((id, end) => store.endIteration(id, end)).catch(() => {}); // `stored` rejects too
    await Promise.all([subcalls.close(), naming?.end()]);
    return this.#announce(await this.#stored(compose(reason, this.#query), naming ? { ...done, last: null } : done));
  }

  /** The database failed before there was an answer; notifies those who follow the query. */
  async fail(error: StoreError): Promise<void> {
    const { subcalls, title } = this.#query;
    await Promise.all([subcalls.close(), title()?.end()]);
    this.#announce(await this.#unstored(compose("unstored", this.#query), error));
  }

  /** Stores how the query ended. An answer was paid for: if it cannot be stored, the caller still receives it, with the
   * reason as the last note. */
  async #stored(result: QueryResult, { stored, last }: Done): Promise<QueryResult> {
    const { parts: { store }, queryId, state } = this.#query;
    const { value: _inAnswer, ...end } = result;
    try {
      if (last) await last.store((iterationId, iteration) => store.endQuery(queryId, end, { iterationId, iteration }));
      await stored;
      if (!last) await store.endQuery(queryId, end);
      return result;
    } catch (error) {
      if (error instanceof TakenOverError) this.#takenOver(error);
      if (state.final === null || !(error instanceof StoreError)) throw error;
      return await this.#unstored(result, error);
    }
  }

  async #unstored(result: QueryResult, { message }: StoreError): Promise<QueryResult> {
    const { parts: { store }, queryId } = this.#query;
    const reason = "unstored";
    const unstored: QueryResult = { ...result, reason, status: statusOf(reason), notes: [...result.notes, message] };
    const { value: _inAnswer, ...end } = unstored;
    await store.endQuery(queryId, end).catch(() => {}); // the end alone may still be stored
    return unstored;
  }

  #takenOver({ message }: TakenOverError): void {
    const { parts: { log }, queryId, state } = this.#query;
    state.final = null;
    log.warn("query_taken_over", { queryId });
    this.#send("failed", { ...compose("process_lost", this.#query), answer: message });
  }

  #announce(result: QueryResult): QueryResult {
    const { parts: { log }, queryId } = this.#query;
    const { status, reason, iterations, ms } = result;
    log.info("query_ended", { queryId, status, reason, iterations, ms });
    this.#send(reason === "answered" ? "final" : status === "interrupted" ? "cancelled" : "failed", result);
    return result;
  }

  #send(type: "final" | "failed" | "cancelled", result: QueryResult): void {
    if (this.#sent) return;
    this.#sent = true;
    const { emitter } = this.#query;
    emitter.iteration = null;
    emitter.send({ type, result });
  }
}

/** The reason, with its own value for a query that spent its budget on answers that its schema refused. */
function reasonOf(
  why: QueryReason,
  { state, extras }: { readonly state: QueryState; readonly extras: RequestExtras },
): QueryReason {
  return why === "max_iterations" && state.final === null && extras.answerSchema?.refused ? "answer_schema" : why;
}

function compose(
  reason: QueryReason,
  { state, extras, ledger, queryId, parts: { environment, now }, started }: Ended,
): QueryResult {
  const { final } = state;
  const ms = Math.max(0, now() - started);
  const answer = final?.answer || (reason === "answered" || reason === "forked" ? "" : fallbackAnswer({
    reason,
    iterations: state.position,
    used: state.used,
    budget: state.budget,
    ms,
    thinking: state.thinking,
    errors: state.errors,
    refused: extras.answerSchema?.refused ?? null,
    unusable: state.faults.unusable,
    prose: state.prose,
    unsupported: state.unsupported,
  }));
  return {
    status: statusOf(reason),
    reason,
    answer,
    answerType: final?.answerType ?? "text",
    confidence: final?.confidence ?? "low",
    queryId,
    conversationId: environment.branch.conversationId,
    iterations: state.position,
    ...ledger.spent,
    ms,
    ...(final?.answer || reason === "answered" ? {} : { noAnswer: true as const }),
    ...(reason === "provider" && state.temporary ? { temporary: true as const } : {}),
    notes: [
      ...final?.notes ?? [],
      ...changedFiles(state),
      ...failedPrograms(environment),
      ...failedExtensions(environment),
      ...endedPrograms(environment),
    ],
    ...(final?.value === undefined ? {} : { value: final.value }),
  };
}

function changedFiles({ changed: { total } }: QueryState): readonly string[] {
  return total === "" ? [] : [`${total} · vis undo`];
}

function failedPrograms({ programs: { failed } }: QueryParts["environment"]): readonly string[] {
  return failed.length === 0 ? [] : [`Failed in the background: ${failed.join("; ")}`];
}

/** Parts of extensions that threw: the query went on without them. */
function failedExtensions({ extensionFaults }: QueryParts["environment"]): readonly string[] {
  const said = extensionFaults.map(({ namespace, phase, error }) =>
    phase === "warn"
      ? oneLine(messageOf(error), 300)
      : `Extension ${namespace}: ${phase} failed: ${oneLine(messageWithLine(error), 300)}`
  );
  return [...new Set(said)].slice(0, MOST_FAULTS);
}

function endedPrograms({ views, programs: { titles } }: QueryParts["environment"]): readonly string[] {
  if (titles.length === 0 || !views.view().endsWithQuery) return [];
  const shown = titles.map((title) => oneLine(title, 80)).join("; ");
  return [`Ended with this run: ${shown} (commands keep running after a request only in vis and vis serve)`];
}
