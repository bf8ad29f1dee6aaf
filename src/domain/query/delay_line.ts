import type { QueryEventBody } from "./query_event.ts";

export type Delay = Extract<QueryEventBody, { readonly type: "retrying" | "waiting" }>;

/** The line a user sees while a reply is late: before a retry when, which attempt and why; while the model has not
 * begun, for how long it may take. */
export function delayLine(event: Delay): string {
  if (event.type === "waiting") {
    const { model, waitedMs, limitMs } = event;
    return `waiting for ${model}: no reply for ${duration(waitedMs)} (limit ${duration(limitMs)})`;
  }
  return `retrying in ${duration(Math.max(1000, event.waitMs))} (try ${event.attempt}): ${event.reason}`;
}

function duration(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}
