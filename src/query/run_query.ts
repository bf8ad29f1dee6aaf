import { Cancelled, ConfigError, StoreError } from "../domain/errors.ts";
import { Emitter } from "../domain/emitter.ts";
import type { Emit } from "../domain/query_event.ts";
import { type QueryReason, type QueryResult, statusOf } from "../domain/query_result.ts";
import { fallbackAnswer } from "./fallback_answer.ts";
import type { QueryParts } from "./query_parts.ts";
import { prepare } from "./prepare.ts";
import { QueryLoop } from "./query_loop.ts";
import { QueryState } from "./query_state.ts";

/** One user turn: stores it as running, iterates, ends it in a terminal status on every path. Rejects with
 * `ConfigError`, `StoreError` or a defect, and only after it tried to end the query. */
export async function runQuery(
  request: string,
  parts: QueryParts,
  options: { readonly signal: AbortSignal; readonly emit: Emit; readonly label?: string },
): Promise<QueryResult> {
  const { environment, router, settings, now } = parts;
  const begun = now();
  const { provider, model } = router.current();
  const queryId = await parts.store.beginQuery({
    branchId: environment.branch.branchId,
    text: request,
    provider: provider.name,
    model,
    promptEnrichment: settings.instructions,
    runLabel: options.label ?? null,
    owner: parts.owner,
  });
  const emitter = new Emitter(options.emit, { queryId, now });
  const { conversationId } = environment.branch;
  emitter.send({ type: "started", conversationId, request, model });
  const state = new QueryState(settings.budget, settings.ceiling);
  const end = async (reason: QueryReason): Promise<QueryResult> => {
    const result = compose(reason, { state, queryId, conversationId, ms: now() - begun });
    await parts.store.endQuery(queryId, result);
    const type = reason === "answered" ? "final" : result.status === "interrupted" ? "cancelled" : "failed";
    emitter.iteration = null;
    emitter.send({ type, result });
    return result;
  };
  try {
    const prepared = await prepare(request, { parts, state, queryId, emitter, begun, signal: options.signal });
    return await end(await new QueryLoop(prepared).run());
  } catch (error) {
    if (error instanceof Cancelled) return await end("cancelled");
    if (error instanceof ConfigError) state.failed(error.message, { call: false });
    await end(error instanceof ConfigError ? "configuration" : "defect").catch(() => {});
    if (!(error instanceof ConfigError) && !(error instanceof StoreError)) {
      parts.log.error("query_defect", { queryId, stack: error instanceof Error ? error.stack : String(error) });
    }
    throw error;
  } finally {
    await environment.endQuery();
  }
}

function compose(
  reason: QueryReason,
  { state, queryId, conversationId, ms }: {
    readonly state: QueryState;
    readonly queryId: string;
    readonly conversationId: string;
    readonly ms: number;
  },
): QueryResult {
  const { final } = state;
  const answer = final?.answer || (reason === "answered" ? "" : fallbackAnswer({
    reason,
    iterations: state.used,
    budget: state.budget,
    thinking: state.thinking,
    errors: state.errors,
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
    usage: state.usage,
    costUsd: state.costUsd,
    ms,
    notes: final?.notes ?? [],
  };
}
