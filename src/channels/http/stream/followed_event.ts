import type { QueryEvent } from "../../../domain/query/query_event.ts";

/** An event of a query, for a client that follows it. */
export interface FollowedEvent {
  /** Its number in the run, from 1; `r1`, `r2` … for events that are rebuilt from rows. */
  readonly id: string;
  /** Of the query or of one of its child queries. */
  readonly event: QueryEvent;
  /** Number of events before it that are no longer kept. */
  readonly omitted: number;
}
