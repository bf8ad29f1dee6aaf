export interface NewestQueries {
  /** So many of the last ones, all where it is left out. */
  readonly newest?: number | undefined;
}
