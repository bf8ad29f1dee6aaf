/* One user turn from begin to end. It is read in this order:
 *
 *   run_query.ts      `runQuery`: begin, prepare, iterate, end, in every case; this file is the entrance of the folder
 *   query_parts.ts    what it is built from and what the operator set: settings, limits, models, what the user adds
 *   prepare.ts        what is done before the first call: extensions, the stable start of each call
 *   query_loop.ts     the decisions between iterations, on `query_state.ts`; `build_context.ts` makes each next message
 *   query_ending.ts   how a query ends: stored, then announced
 *
 * Beside the loop, `subcalls.ts` runs calls of a model and child queries that blocks make, `query_approvals.ts` asks the
 * user, `ledger.ts` and `ledger_calls.ts` count every call against the limits, and `deadline.ts` ends what takes too
 * long. docs/architecture.md has the table of what follows what. */

import { Cancelled, ConfigError, HandedOver, StoreError, TakenOverError } from "../domain/errors.ts";
import type { Approve } from "../domain/query/approval.ts";
import { NO_USAGE } from "../domain/query/model_call.ts";
import { type Emit, Emitter } from "../domain/query/query_event.ts";
import type { QueryResult } from "../domain/query/query_schemas.ts";
import type { KeyedRequest, StoredQuery } from "../domain/query/stored_query.ts";
import type { Asked, LeftQuery, PreviousTurn, QueryStore, StoredIteration } from "../persistence/store.ts";
import { NO_EXTRAS, type RequestExtras } from "../prompt/call_messages.ts";
import { QueryDeadline } from "./deadline.ts";
import { LedgerCalls } from "./ledger_calls.ts";
import { Ledger } from "./ledger.ts";
import { type BegunQuery, prepare } from "./prepare.ts";
import { QueryApprovals } from "./query_approvals.ts";
import { fallbackAnswer, QueryEnding } from "./query_ending.ts";
import { QueryLoop } from "./query_loop.ts";
import { chosenRoute, type QueryParts } from "./query_parts.ts";
import { QueryState } from "./query_state.ts";
import { Subcalls } from "./subcalls.ts";

export { previewCall } from "./prepare.ts";

/** A query as another process left it. */
export interface QueryLeft extends LeftQuery {
  readonly query: Pick<StoredQuery, "createdAt" | "steered">;
  readonly iterations: readonly StoredIteration[];
  /** Time since it began, without that in which it waited for the user. */
  readonly elapsedMs: number;
  /** The number of its last event; 0 if none was sent. */
  readonly seq: number;
}

interface RunQueryOptions extends KeyedRequest {
  readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly label?: string | undefined;
  readonly extras?: RequestExtras;
  /** For a query below another one: its part of the tree's ledger. */
  readonly ledger?: Ledger;
  readonly parentQueryId?: string;
  /** The query's id if it is already stored as running, before an environment is opened for it. */
  readonly begun?: string;
  /** The query before it; null for the first one of a conversation, and for a query below another one. */
  readonly before?: PreviousTurn | null;
  /** Where it continues; `begun` is its id. */
  readonly left?: QueryLeft | undefined;
  /** Once it aborts, the query is left to another process before its next iteration: rejects with `HandedOver`. */
  readonly leaving?: AbortSignal | undefined;
  /** Asks the user what extensions request; nobody can be asked if absent. */
  readonly approve?: Approve | undefined;
  /** For a query below another one: the approvals of the tree. */
  readonly approvals?: QueryApprovals;
  /** Called with the unified diff of each file that it changes, or a query below it. */
  readonly onChange?: (diff: string) => void;
  /** Used instead of the root model. */
  readonly model?: string | null | undefined;
}

/** Expected rejections of a query. */
const FORESEEN = [ConfigError, StoreError, TakenOverError] as const;

/** One user turn: stores the query as running, iterates, and ends it in a terminal status on every path. Rejects with
 * `ConfigError`, `StoreError`, `TakenOverError` or a defect, but only after trying to end the query. */
export async function runQuery(request: string, parts: QueryParts, given: RunQueryOptions): Promise<QueryResult> {
  // A query below another one has no deadline of its own: it ends with its parent.
  const deadline = new QueryDeadline(given.signal, {
    wallMs: given.ledger ? null : parts.settings.limits.wallMs,
    now: parts.now,
    elapsedMs: given.left?.elapsedMs ?? 0,
  });
  try {
    return await runWithin(deadline, request, parts, { ...given, signal: deadline.signal });
  } finally {
    deadline.close();
  }
}

async function runWithin(
  deadline: QueryDeadline,
  request: string,
  parts: QueryParts,
  options: RunQueryOptions,
): Promise<QueryResult> {
  const query = await begin(deadline, request, parts, options);
  const { queryId, state } = query;
  let unstored = false;
  const ending = new QueryEnding(query);
  const ended = async (...how: Parameters<QueryEnding["end"]>): Promise<QueryResult> => {
    const result = await ending.end(...how);
    unstored = result.reason === "unstored";
    return result;
  };
  try {
    if (!parts.environment.alive) parts.trySandbox?.(); // before the model is called
    const loop = new QueryLoop(await prepare(query), options.leaving);
    if (options.left) loop.continueFrom(options.left.iterations, options.left.query.steered);
    return await ended(await loop.run(), loop);
  } catch (error) {
    if (error instanceof Cancelled) return await ended("cancelled");
    if (error instanceof HandedOver) {
      await query.subcalls.close();
      throw error;
    }
    unstored = !(error instanceof ConfigError);
    if (unstored) state.final = null;
    if (error instanceof ConfigError) state.failed(error.message);
    if (error instanceof StoreError) await ending.fail(error);
    else await ending.end(error instanceof ConfigError ? "configuration" : "defect").catch(() => {});
    if (!FORESEEN.some((kind) => error instanceof kind)) {
      parts.log.error("query_defect", { queryId, stack: error instanceof Error ? error.stack : String(error) });
    }
    throw error;
  } finally {
    // If the store cannot even be read, the caller gets its earlier error.
    await parts.environment.endQuery({ unstored }).catch((error: unknown) => {
      parts.log.error("environment_not_undone", { queryId, error: String(error) });
    });
  }
}

/** Stores the query as running and creates what lives as long as it. */
async function begin(
  deadline: QueryDeadline,
  request: string,
  given: QueryParts,
  options: RunQueryOptions,
): Promise<BegunQuery> {
  const { environment, settings, now } = given;
  const { extras = NO_EXTRAS, emit, signal, parentQueryId, left, before = null, model = null } = options;
  const started = left?.query.createdAt ?? now();
  const ledger = options.ledger ?? Ledger.open(settings.limits, () => deadline.elapsedMs);
  const calls = new LedgerCalls(given.router, { ledger, model });
  const router = parentQueryId ? calls : new LedgerCalls(given.router, { ledger, model, gate: null });
  const parts = { ...given, router };
  const { branchId, conversationId } = environment.branch;
  const served = router.current().model;
  const queryId = options.begun ?? await storeQuery(request, parts, { ...options, branchId });
  const emitter = new Emitter(emit, { queryId, now, parentQueryId, seq: left?.seq ?? 0 });
  if (left) {
    ledger.count(left);
    ledger.countEarlier(left.subcalls);
  }
  if (!left?.seq) emitter.send({ type: "started", conversationId, request, model: served });
  const approvals = options.approvals ?? QueryApprovals.of(given, { approve: options.approve, deadline });
  const state = new QueryState(settings.budget, settings.ceiling);
  const onChange = (diff: string): void => {
    state.changed.add(diff);
    options.onChange?.(diff);
  };
  const run: typeof runQuery = async (task, ...rest) => {
    const result = await runQuery(task, ...rest);
    state.keepChild(task, result);
    return result;
  };
  const below = { parts: given, queryId, calls, ledger, approvals, emitter, emit, signal, onChange, run };
  return {
    ...{ queryId, request, started, before, extras, signal, deadline, parts },
    ...{ state, ledger, approvals, emitter, onChange },
    subcalls: new Subcalls(below),
  };
}

interface StoreOptions extends KeyedRequest {
  readonly branchId: string;
  readonly label?: string | undefined;
  /** The id under which it was accepted. */
  readonly queryId?: string | undefined;
  readonly extras?: RequestExtras;
  readonly askedAs?: Asked | undefined;
  /** The run that this one replaces. */
  readonly retryOf?: string | undefined;
  readonly model?: string | null | undefined;
}

/** Stores a query as running, which leases its branch to this process. Returns its id. */
export async function storeQuery(
  request: string,
  { store, router, owner, settings }: Pick<QueryParts, "store" | "owner" | "settings"> & {
    readonly router: Pick<QueryParts["router"], "current" | "routes">;
  },
  { branchId, label, extras = NO_EXTRAS, askedAs, retryOf, requestKey, queryId, model: named = null }: StoreOptions,
): Promise<string> {
  const { provider, model } = chosenRoute(router, named);
  return await store.beginQuery({
    ...{ branchId, text: request, model, owner, requestKey, queryId },
    provider: provider.name,
    promptEnrichment: settings.instructions,
    runLabel: label ?? null,
    images: extras.images,
    answerSchema: extras.answerSchema?.text ?? null,
    askedAs: askedAs ?? null,
    ...(retryOf === undefined ? {} : { retryOf }),
  });
}

/** Ends a stored query that cannot be run. */
export async function endUnrun(store: Pick<QueryStore, "endQuery">, queryId: string): Promise<void> {
  const facts = { iterations: 0, budget: 0, ms: 0, thinking: "", errors: [] };
  await store.endQuery(queryId, {
    ...{ status: "error", reason: "defect", answer: fallbackAnswer({ ...facts, used: 0, reason: "defect" }) },
    ...{ answerType: "text", confidence: "low", iterations: 0, usage: NO_USAGE, costUsd: 0, ms: 0, notes: [] },
  });
}
