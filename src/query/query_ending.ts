import { messageOf, StoreError, TakenOverError } from "../domain/errors.ts";
import { clip, durationText, oneLine } from "../domain/kit/text.ts";
import { type QueryReason, reasonAdvice, statusOf } from "../domain/query/outcomes.ts";
import type { QueryEnd, QueryResult } from "../domain/query/query_schemas.ts";
import { messageWithLine } from "../extension/active.ts";
import { isAboutWork, leavesText } from "../iteration/claims.ts";
import type { IterationFault } from "../iteration/iteration.ts";
import type { BegunQuery, QueryLoop } from "./query_loop.ts";
import type { QueryParts } from "./query_parts.ts";
import type { Unusable } from "./query_state.ts";

/** The limit for notes about extensions in one result. */
const MOST_FAULTS = 5;

/** Ends one query: stores the end, then announces it. */
export class QueryEnding {
  readonly #query: BegunQuery;
  #sent = false;

  constructor(query: BegunQuery) {
    this.#query = query;
  }

  /** Stores the end, with the last iteration of `loop`. Rejects if it cannot be stored and there is no answer.
   * Followers of the query are notified if another process took it over. */
  async end(why: QueryReason, loop: Pick<QueryLoop, "end"> | null = null): Promise<QueryResult> {
    const { deadline, subcalls } = this.#query;
    const reason = why === "cancelled" && deadline.passed ? "limit_time" : reasonOf(why, this.#query);
    await subcalls.close();
    return this.#announce(await this.#stored(compose(reason, this.#query), loop));
  }

  /** Notifies followers of the query that the database failed before there was an answer. */
  async fail(error: StoreError): Promise<void> {
    await this.#query.subcalls.close();
    this.#announce(await this.#unstored(compose("unstored", this.#query), error));
  }

  /** Stores the end of the query. An answer was paid for: if it cannot be stored, the caller still receives it, with
   * the reason as the last note. */
  async #stored(result: QueryResult, loop: Pick<QueryLoop, "end"> | null): Promise<QueryResult> {
    const { parts: { store }, queryId, state } = this.#query;
    const end = storedEnd(result, this.#query);
    try {
      if (loop) await loop.end((last) => store.endQuery(queryId, end, last));
      else await store.endQuery(queryId, end);
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
    // The end alone may still be stored.
    await store.endQuery(queryId, storedEnd(unstored, this.#query)).catch(() => {});
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

/** Returns the reason, with its own value for a query that spent its budget on answers that its schema refused. */
function reasonOf(why: QueryReason, { state, extras }: BegunQuery): QueryReason {
  return why === "max_iterations" && state.final === null && extras.answerSchema?.refused ? "answer_schema" : why;
}

function storedEnd({ value: _inAnswer, ...end }: QueryResult, query: BegunQuery): QueryEnd {
  const { state, extras, request, before, parts: { environment: { given } } } = query;
  const isIdle = before?.idle !== false && !state.acted && extras.images.length + given.shown.length === 0 &&
    !leavesText(end.answer, request);
  return { ...end, ...isIdle ? { idle: true } : {} };
}

function compose(
  reason: QueryReason,
  { state, extras, ledger, queryId, parts: { environment, now }, started, request }: BegunQuery,
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
  const work = state.work.facts(state.changed, { claimed: isAboutWork(answer, request) });
  return {
    status: statusOf(reason),
    reason,
    answer,
    answerType: final?.answerType ?? "text",
    confidence: final?.confidence ?? null,
    queryId,
    conversationId: environment.branch.conversationId,
    iterations: state.position,
    ...ledger.spent,
    ms,
    ...(final?.answer || reason === "answered" ? {} : { noAnswer: true as const }),
    ...(reason === "provider" && state.temporary ? { temporary: true as const } : {}),
    notes: [
      ...final?.notes ?? [],
      ...work.text === "" ? [] : [work.text],
      ...failedPrograms(environment),
      ...failedExtensions(environment),
      ...endedPrograms(environment),
    ],
    work,
    ...(final?.value === undefined ? {} : { value: final.value }),
  };
}

function failedPrograms({ programs: { failed } }: QueryParts["environment"]): readonly string[] {
  return failed.length === 0 ? [] : [`Failed in the background: ${failed.join("; ")}`];
}

/** Returns notes about parts of extensions that threw; the query continued without them. */
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

interface Unanswered {
  readonly reason: Exclude<QueryReason, "answered" | "forked">;
  readonly iterations: number;
  /** The number of iterations that were counted against the budget. */
  readonly used: number;
  readonly budget: number;
  readonly ms: number;
  readonly thinking: string;
  readonly errors: readonly string[];
  /** Why the newest answer did not satisfy the required schema; null if it was not refused for that. */
  readonly refused?: string | null;
  readonly unusable?: Unusable | null;
  /** The last reply, if it was plain text. */
  readonly prose?: string | null;
  readonly unsupported?: { readonly answer: string; readonly reason: string } | null;
}

/** Returns the answer of a query without one of its own: the cause of its end, its progress, and advice. Never empty. */
export function fallbackAnswer(query: Unanswered): string {
  const { reason, thinking, errors, prose, unsupported } = query;
  const lines = [headline(query)];
  if (reason === "unusable_replies" && prose) lines.push(`It wrote: ${clip(prose.trim(), 2000)}`);
  if (reason === "unsupported_answer" && unsupported) {
    lines.push(clip(unsupported.reason, 1000), `The answer that it gave: ${clip(unsupported.answer, 2000)}`);
  }
  if (thinking && reason !== "unusable_replies" && reason !== "unsupported_answer") {
    lines.push(`Last thinking: ${clip(thinking, 800)}`);
  }
  if (reason === "error_budget") lines.push(...errors.slice(-3).map((error) => `Error: ${clip(error, 300)}`));
  const advice = reasonAdvice(reason);
  if (advice) lines.push(advice);
  return lines.join("\n");
}

/** Words for the reply that a model returned instead of a usable one. */
const INSTEAD: Readonly<Record<Exclude<IterationFault, "broken" | "call">, string>> = {
  empty: "with an empty text",
  thinking: "with reasoning only",
  idle: "with neither code to run nor a final answer",
  tools: "with tool calls, although it has no tools",
  text: "with plain text instead of the required format",
  json: "with JSON that does not have the required format",
  cut: "with an incomplete text",
};

function headline(query: Unanswered): string {
  const { reason, iterations, used, budget, ms, refused, unusable } = query;
  const error = query.errors.at(-1) ?? "";
  const done = `${iterations} step${iterations === 1 ? "" : "s"}`;
  switch (reason) {
    case "max_iterations": {
      const free = iterations - used - 1; // the last call is not counted either
      const more = free === 1 ? " 1 more, without a result, was" : ` ${free} more, without a result, were`;
      return `No answer within the budget of ${budget} step${budget === 1 ? "" : "s"}.${
        free > 0 ? `${more} not counted.` : ""
      }`;
    }
    case "error_budget":
      return `No answer: too many errors in a row after ${done}.`;
    case "answer_schema":
      return `No answer that satisfies the schema after ${done}. ${clip(refused ?? "", 1000)}`;
    case "unusable_replies":
      return unusable ? said(unusable) : "The model gave no usable reply.";
    case "unsupported_answer":
      return "No answer: the model repeated one that nothing it computed supports.";
    case "limit_cost":
      return `No answer: the cost limit was reached after ${done}.`;
    case "limit_tokens":
      return `No answer: the token limit was reached after ${done}.`;
    case "limit_time":
      return `Timed out after ${durationText(ms)} in step ${iterations + 1}.`;
    case "provider":
      return error || "The model could not be reached.";
    case "configuration":
      return error || "A setting prevents this request.";
    case "cancelled":
      return `Cancelled after ${done}; completed work is kept.`;
    case "process_lost":
      return `Interrupted: its process ended after ${done}; completed work is kept.`;
    case "unstored":
      return `No answer: the database could not be used after ${done}; what was stored before is kept.`;
    case "defect":
      return `Vis failed with an internal error after ${done}; completed work is kept.`;
  }
}

function said({ model, count, fault }: Unusable): string {
  const instead = fault === null || fault === "broken" || fault === "call" ? null : INSTEAD[fault];
  return `The model ${model} replied ${count} times in a row ${instead ?? "without anything usable"}.`;
}
