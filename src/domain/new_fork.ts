/** Where a new branch leaves another one. */
export interface NewFork {
  /** The run of a query (`query_state.id`) in the branch that is left. */
  readonly queryId: string;
  /** The last iteration (0-based) that the new branch has; null for all of them, -1 for the state before the query. */
  readonly position: number | null;
  /** That of the branch it leaves where left out. */
  readonly title?: string;
}
