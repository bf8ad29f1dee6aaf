import type { QueryEventBody } from "./query_event.ts";

export type Delay = Extract<QueryEventBody, { readonly type: "retrying" | "waiting" }>;

/** A person who takes the place of the model may take days. */
const NO_LIMIT_MS = 86_400_000;

/** The line a user sees while a reply is late: before a retry when, which attempt and why; while the model has not
 * begun, for how long it may take. */
export function delayLine(event: Delay): string {
  if (event.type === "waiting") {
    const limit = event.limitMs < NO_LIMIT_MS ? ` (limit ${duration(event.limitMs)})` : "";
    return `waiting for ${event.model}: no reply for ${duration(event.waitedMs)}${limit}`;
  }
  return `retrying in ${duration(Math.max(1000, event.waitMs))} (try ${event.attempt}): ${event.reason}`;
}

function duration(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}
