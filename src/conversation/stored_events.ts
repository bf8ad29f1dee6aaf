import { storedDiffs } from "../domain/query/host_call.ts";
import { outcomeOf } from "../domain/query/outcomes.ts";
import { Emitter } from "../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../domain/query/query_schemas.ts";
import type { EndedQuery, StoredQuery } from "../domain/query/stored_query.ts";
import type { StoredIteration } from "../persistence/store.ts";

export function storedEvents(query: StoredQuery, iterations: readonly StoredIteration[]): readonly QueryEvent[] {
  const events: QueryEvent[] = [];
  const clock = { at: query.createdAt };
  const emitter = new Emitter((event) => events.push(event), { queryId: query.queryId, now: () => clock.at });
  const { conversationId, text: request, model } = query;
  emitter.send({ type: "started", conversationId, request, model });
  for (const iteration of iterations.filter(({ status }) => status !== "running")) {
    clock.at = iteration.createdAt;
    emitter.iteration = iteration.position + 1;
    sendIteration(iteration, emitter);
  }
  emitter.iteration = null;
  if (!query.running) emitter.send(endEvent(query));
  return events;
}

export function endEvent(
  query: EndedQuery,
): { readonly type: "final" | "cancelled" | "failed"; readonly result: QueryResult } {
  const type = query.status === "done" ? "final" : query.status === "interrupted" ? "cancelled" : "failed";
  return { type, result: resultOf(query) };
}

function sendIteration(iteration: StoredIteration, emitter: Emitter): void {
  for (const text of iteration.steered) emitter.send({ type: "steered", text });
  if (iteration.thinking !== "") emitter.send({ type: "thinking", delta: iteration.thinking });
  for (const [block, { code, result }] of iteration.blocks.entries()) {
    emitter.send({ type: "block_started", block, code });
    const diffs = storedDiffs(iteration.metadata, block);
    for (const [at, call] of result.calls.entries()) {
      // The store does not record which call made a change, so the last call of the block gets all changes.
      const changes = diffs.length > 0 && at === result.calls.length - 1 ? { diffs } : {};
      emitter.send({ type: "host_call", block, phase: "end", ...call, ...changes });
    }
    emitter.send({ type: "block_finished", block, result });
  }
  const outcome = outcomeOf(iteration.metadata) ?? "failed";
  const ms = iteration.blocks.reduce((sum, { result }) => sum + result.ms, 0);
  emitter.send({ type: "iteration_finished", outcome, reason: iteration.error, ms });
}

export function resultOf(query: EndedQuery): QueryResult {
  const { status, reason, answer, answerType, confidence, queryId, conversationId } = query;
  const { iterations, usage, costUsd, ms, notes, noAnswer, temporary, work, only } = query;
  return {
    ...{ status, reason, answer, answerType, confidence, queryId, conversationId },
    ...{
      iterations,
      usage,
      costUsd,
      ms,
      notes,
      ...(noAnswer ? { noAnswer } : {}),
      ...(temporary ? { temporary } : {}),
      ...(work ? { work } : {}),
      ...(only ? { only } : {}),
    },
  };
}
