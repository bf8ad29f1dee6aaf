import { Cancelled, ConfigError, HandedOver, StoreError, TakenOverError } from "../domain/errors.ts";
import { Emitter } from "../domain/query/emitter.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { KeyedRequest } from "../domain/query/request_key.ts";
import type { QueryResult } from "../domain/query/query_result.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type { StoredIteration } from "../persistence/store/iteration_store.ts";
import type { LeftQuery, PreviousTurn } from "../persistence/store/query_store.ts";
import type { Approve } from "../domain/query/approval.ts";
import { NO_EXTRAS, type RequestExtras } from "../prompt/call_messages.ts";
import { childQuery } from "./child_query.ts";
import { QueryDeadline } from "./deadline.ts";
import { Ledger } from "./ledger.ts";
import { LedgerCalls } from "./ledger_calls.ts";
import type { QueryParts } from "./query_parts.ts";
import { prepare } from "./prepare.ts";
import { QueryEnding } from "./query_ending.ts";
import { QueryLoop } from "./query_loop.ts";
import { QueryApprovals } from "./query_approvals.ts";
import { QueryState } from "./query_state.ts";
import { storeQuery } from "./store_query.ts";
import { Subcalls } from "./subcalls.ts";
import { TitleCall } from "./title_call.ts";

/** A query as another process left it. */
export interface QueryLeft extends LeftQuery {
  readonly query: Pick<StoredQuery, "createdAt" | "steered">;
  readonly iterations: readonly StoredIteration[];
  /** Time since it began, without that in which it waited for the user. */
  readonly elapsedMs: number;
  /** The number of its last event; 0 if none was sent. */
  readonly seq: number;
}

export interface RunQueryOptions extends KeyedRequest {
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
export async function runQuery(
  request: string,
  parts: QueryParts,
  given: RunQueryOptions,
): Promise<QueryResult> {
  // A query below another one has no deadline of its own: it ends with its parent.
  const deadline = new QueryDeadline(given.signal, {
    wallMs: given.ledger ? null : parts.settings.limits.wallMs,
    now: parts.now,
    elapsedMs: given.left?.elapsedMs ?? 0,
  });
  const options = { ...given, signal: deadline.signal };
  try {
    return await runWithin(deadline, { request, parts, options });
  } finally {
    deadline.close();
  }
}

async function runWithin(
  deadline: QueryDeadline,
  { request, parts, options }: {
    readonly request: string;
    readonly parts: QueryParts;
    readonly options: RunQueryOptions;
  },
): Promise<QueryResult> {
  const run = await begin(request, { parts, options, deadline });
  const { ledger, queryId, router, state, started } = run;
  const { before = null } = options;
  let title: TitleCall | null = null;
  let unstored = false;
  const ending = new QueryEnding({ ...run, parts, deadline, title: () => title });
  const ended = async (...how: Parameters<QueryEnding["end"]>): Promise<QueryResult> => {
    const result = await ending.end(...how);
    unstored = result.reason === "unstored";
    return result;
  };
  try {
    if (!parts.environment.alive) parts.trySandbox?.(); // before the model is called
    title = await TitleCall.begin(request, { parts, before, ledger, signal: options.signal });
    const facts = { ...run, begun: started, signal: options.signal, before };
    const prepared = await prepare(request, { ...facts, parts: { ...parts, router } });
    const loop = new QueryLoop(prepared, options.leaving);
    if (options.left) loop.continueFrom(options.left.iterations, options.left.query.steered);
    return await ended(await loop.run(), loop);
  } catch (error) {
    if (error instanceof Cancelled) return await ended("cancelled");
    if (error instanceof HandedOver) {
      await Promise.all([run.subcalls.close(), title?.end()]);
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

/** Stores the query as running and creates its counters. */
async function begin(
  request: string,
  { parts, options, deadline }: {
    readonly parts: QueryParts;
    readonly options: RunQueryOptions;
    readonly deadline: QueryDeadline;
  },
) {
  const { environment, settings, store, now } = parts;
  const { extras = NO_EXTRAS, emit, signal, parentQueryId, left } = options;
  const started = left?.query.createdAt ?? now();
  const ledger = options.ledger ?? Ledger.open(settings.limits, () => deadline.elapsedMs);
  const { model: chosen = null } = options;
  const calls = new LedgerCalls(parts.router, { ledger, model: chosen });
  const router = parentQueryId ? calls : new LedgerCalls(parts.router, { ledger, model: chosen, gate: null });
  const { branchId, conversationId } = environment.branch;
  const { model } = router.current();
  const queryId = options.begun ?? await storeQuery(request, { ...parts, router }, { ...options, branchId });
  const emitter = new Emitter(emit, { queryId, now, parentQueryId, seq: left?.seq ?? 0 });
  if (left) {
    ledger.count(left);
    ledger.countEarlier(left.subcalls);
  }
  if (!left?.seq) emitter.send({ type: "started", conversationId, request, model });
  const approvals = options.approvals ?? QueryApprovals.of(parts, { approve: options.approve, deadline });
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
  const below = { parts, ledger, approvals, emit, onChange, parentQueryId: queryId, run };
  const subcalls = new Subcalls({
    environment,
    store,
    calls,
    ledger,
    signal,
    onPause: (pause) => emitter.send({ type: "retrying", ...pause }),
    onWait: (wait) => emitter.send({ type: "waiting", ...wait }),
    runChild: (task, child) => childQuery(task, child, below),
  });
  return { approvals, emitter, extras, ledger, onChange, queryId, router, state, subcalls, started };
}
