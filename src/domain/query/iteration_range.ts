import type { StoredQuery } from "./stored_query.ts";

/** A range of iterations of a query. */
export interface IterationRange {
  /** The position (0-based) before the first one; -1 for the beginning. */
  readonly after: number;
  readonly limit: number;
}

/** The iterations of a query that its branch shows: a fork in the middle of it has the first ones. */
export function shownRange({ forkedAt, iterations }: StoredQuery): IterationRange {
  return { after: -1, limit: forkedAt === undefined ? Number.MAX_SAFE_INTEGER : iterations };
}
