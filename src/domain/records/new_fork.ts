/** A point in the history of a branch. */
export interface BranchPoint {
  /** The run of a query (`query_state.id`) in the branch. */
  readonly queryId: string;
  /** The last iteration (0-based) that is included; null for all of them, -1 for the state before the query. */
  readonly position: number | null;
}

/** Where a new branch forks from another one. */
export interface NewFork extends BranchPoint {
  /** The original branch's title if absent. */
  readonly title?: string;
}
