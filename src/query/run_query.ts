import { Cancelled, ConfigError, StoreError } from "../domain/errors.ts";
import { Emitter } from "../domain/emitter.ts";
import type { Emit } from "../domain/query_event.ts";
import type { KeyedRequest } from "../domain/request_key.ts";
import { type QueryReason, type QueryResult, statusOf } from "../domain/query_result.ts";
import { NO_EXTRAS, type RequestExtras } from "../prompt/request_extras.ts";
import { childQuery } from "./child_query.ts";
import { fallbackAnswer } from "./fallback_answer.ts";
import { Deadline } from "./deadline.ts";
import { Ledger } from "./ledger.ts";
import { LedgerCalls } from "./ledger_calls.ts";
import type { QueryParts } from "./query_parts.ts";
import { prepare } from "./prepare.ts";
import { QueryLoop } from "./query_loop.ts";
import { QueryState } from "./query_state.ts";
import { Subcalls } from "./subcalls.ts";
import { TitleCall } from "./title_call.ts";

export interface RunOptions extends KeyedRequest {
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly label?: string;
  readonly extras?: RequestExtras;
  /** Of a query below another one: its part of the tree's ledger. */
  readonly ledger?: Ledger;
  readonly parentQueryId?: string;
  /** It was stored as running before the environment was opened: a retry, which begins with older variables. */
  readonly begun?: string;
  /** In place of the root model. */
  readonly model?: string | null;
}

/** One user turn: stores it as running, iterates, ends it in a terminal status on every path. Rejects with
 * `ConfigError`, `StoreError` or a defect, and only after it tried to end the query. */
export async function runQuery(
  request: string,
  parts: QueryParts,
  given: RunOptions,
): Promise<QueryResult> {
  // A query below another one ends with it.
  const deadline = new Deadline(given.signal, given.ledger ? null : parts.settings.limits.wallMs);
  const options = { ...given, signal: deadline.signal };
  try {
    return await runWithin(deadline, { request, parts, options });
  } finally {
    deadline.close();
  }
}

async function runWithin(
  deadline: Deadline,
  { request, parts, options }: {
    readonly request: string;
    readonly parts: QueryParts;
    readonly options: RunOptions;
  },
): Promise<QueryResult> {
  const run = await begin(request, { parts, options });
  const { emitter, extras, ledger, queryId, router, state, subcalls, started } = run;
  const title = await TitleCall.begin(request, { parts, queryId, ledger, signal: options.signal });
  const end = async (why: QueryReason, before = Promise.resolve()): Promise<QueryResult> => {
    const reason = why === "cancelled" && deadline.passed ? "limit_time" : reasonOf(why, run);
    await Promise.all([subcalls.close(), title?.end()]);
    const { conversationId } = parts.environment.branch;
    const result = compose(reason, { ...run, conversationId, ms: Math.max(0, parts.now() - started) });
    const { value: _inAnswer, ...stored } = result;
    // With an answer, the last iteration is being written: both in one commit.
    if (reason !== "answered") await before;
    await Promise.all([before, parts.store.endQuery(queryId, stored)]);
    const { status, iterations, ms } = result;
    parts.log.info("query_ended", { queryId, status, reason, iterations, ms });
    const type = reason === "answered" ? "final" : result.status === "interrupted" ? "cancelled" : "failed";
    emitter.iteration = null;
    emitter.send({ type, result });
    return result;
  };
  let unstored = false;
  try {
    const facts = { ledger, subcalls, state, queryId, emitter, begun: started, signal: options.signal, extras };
    const prepared = await prepare(request, { ...facts, parts: { ...parts, router } });
    const loop = new QueryLoop(prepared);
    return await end(await loop.run(), loop.stored);
  } catch (error) {
    if (error instanceof Cancelled) return await end("cancelled");
    unstored = !(error instanceof ConfigError);
    if (unstored) state.final = null;
    if (error instanceof ConfigError) state.failed(error.message, { call: false });
    await end(error instanceof ConfigError ? "configuration" : "defect").catch(() => {});
    if (!(error instanceof ConfigError) && !(error instanceof StoreError)) {
      parts.log.error("query_defect", { queryId, stack: error instanceof Error ? error.stack : String(error) });
    }
    throw error;
  } finally {
    // Where the store cannot even be read, what it threw before is what the caller gets.
    await parts.environment.endQuery({ unstored }).catch((error: unknown) => {
      parts.log.error("environment_not_undone", { queryId, error: String(error) });
    });
  }
}

/** Stores the query as running and makes what it counts with. */
async function begin(
  request: string,
  { parts, options }: { readonly parts: QueryParts; readonly options: RunOptions },
) {
  const { environment, settings, store, now } = parts;
  const { extras = NO_EXTRAS, emit, signal, parentQueryId } = options;
  const started = now();
  const ledger = options.ledger ?? Ledger.open(settings.limits, () => now() - started);
  const { model: chosen = null } = options;
  const calls = new LedgerCalls(parts.router, { ledger, model: chosen });
  const router = parentQueryId ? calls : new LedgerCalls(parts.router, { ledger, model: chosen, gate: null });
  const { provider, model } = router.current();
  const queryId = options.begun ?? await store.beginQuery({
    branchId: environment.branch.branchId,
    text: request,
    provider: provider.name,
    model,
    promptEnrichment: settings.instructions,
    runLabel: options.label ?? null,
    owner: parts.owner,
    images: extras.images,
    answerSchema: extras.answerSchema?.text ?? null,
    requestKey: options.requestKey,
  });
  const emitter = new Emitter(emit, { queryId, now, parentQueryId });
  emitter.send({ type: "started", conversationId: environment.branch.conversationId, request, model });
  const below = { parts, ledger, emit, parentQueryId: queryId, run: runQuery };
  const subcalls = new Subcalls({
    environment,
    store,
    calls,
    ledger,
    signal,
    runChild: (task, child) => childQuery(task, child, below),
  });
  const state = new QueryState(settings.budget, settings.ceiling);
  return { emitter, extras, ledger, queryId, router, state, subcalls, started };
}

/** A query that spent its budget on answers that its schema refused says so. */
function reasonOf(
  why: QueryReason,
  { state, extras }: { readonly state: QueryState; readonly extras: RequestExtras },
): QueryReason {
  return why === "max_iterations" && state.final === null && extras.answerSchema?.refused ? "answer_schema" : why;
}

function compose(
  reason: QueryReason,
  { state, extras, ledger, queryId, conversationId, ms }: {
    readonly state: QueryState;
    readonly extras: RequestExtras;
    readonly ledger: Ledger;
    readonly queryId: string;
    readonly conversationId: string;
    readonly ms: number;
  },
): QueryResult {
  const { final } = state;
  const answer = final?.answer || (reason === "answered" ? "" : fallbackAnswer({
    reason,
    iterations: state.position,
    budget: state.budget,
    thinking: state.thinking,
    errors: state.errors,
    refused: extras.answerSchema?.refused ?? null,
  }));
  return {
    status: statusOf(reason),
    reason,
    answer,
    answerType: final?.answerType ?? "text",
    confidence: final?.confidence ?? "low",
    queryId,
    conversationId,
    iterations: state.position,
    ...ledger.spent,
    ms,
    notes: final?.notes ?? [],
    ...(final?.value === undefined ? {} : { value: final.value }),
  };
}
