/** A range of iterations of a query. */
export interface IterationRange {
  /** The position (0-based) before the first one; -1 for the beginning. */
  readonly after: number;
  readonly limit: number;
}
