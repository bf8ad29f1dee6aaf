import type { QueryEventBody } from "./query_event.ts";

export type Delay = Extract<QueryEventBody, { readonly type: "retrying" | "waiting" }>;

/** The line a user sees while a reply is late: before a retry when, which attempt and why; while the model has not
 * begun, for how long it may take. */
export function delayLine(event: Delay): string {
  if (event.type === "waiting") {
    return `waiting for ${event.model}: no reply for ${seconds(event.waitedMs)} (limit ${seconds(event.limitMs)})`;
  }
  return `retrying in ${seconds(Math.max(1000, event.waitMs))} (try ${event.attempt}): ${event.reason}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
