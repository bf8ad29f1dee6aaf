/** Some iterations of a query, in order. */
export interface IterationRange {
  /** The place (0-based) before the first one; -1 for the beginning. */
  readonly after: number;
  readonly limit: number;
}
