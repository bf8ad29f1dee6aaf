import type { z } from "zod";
import type { Frozen } from "../reports/frozen.ts";
import type { QueryEventSchema } from "./query_schemas.ts";
import type { QueryResult } from "./query_result.ts";

export const OUTCOMES = ["executed", "empty", "failed", "refused", "final"] as const;
export type IterationOutcome = typeof OUTCOMES[number];

/** The outcome in the row of an iteration, or null. */
export function outcomeOf({ outcome }: Readonly<Record<string, unknown>>): IterationOutcome | null {
  return OUTCOMES.find((one) => one === outcome) ?? null;
}

/** One event of a query, the same for every channel; `--output jsonl` and SSE carry it unchanged. */
export type QueryEvent = Frozen<z.infer<typeof QueryEventSchema>>;

type WithoutEnvelope<T> = T extends unknown ? Omit<T, "seq" | "at" | "queryId" | "parentQueryId" | "iteration"> : never;
/** What happened, without the envelope that `Emitter` adds. Exactly one of the last three ends a query. */
export type QueryEventBody = WithoutEnvelope<QueryEvent>;

/** Whether it belongs to a child query, whose events are interleaved with the parent's. */
export function isChild({ parentQueryId }: QueryEvent): boolean {
  return parentQueryId !== undefined;
}

/** Whether its query has ended. */
export function isEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return event.type === "final" || event.type === "failed" || event.type === "cancelled";
}

/** Whether a query has ended that is no child of another. */
export function isOwnEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return isEnd(event) && !isChild(event);
}

/** Never throws to the engine; a channel that fails misses only its own events. `number` is the place of an event among
 * those of its query on all nodes; omitted where one process has all of them. */
export type Emit = (event: QueryEvent, number?: number) => void;
