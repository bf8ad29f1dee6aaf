export interface NewestQueries {
  /** How many of the latest ones; all if absent. */
  readonly newest?: number | undefined;
}
