/** A moment in the past of a branch. */
export interface BranchPoint {
  /** The run of a query (`query_state.id`) in the branch. */
  readonly queryId: string;
  /** The last iteration (0-based) that is part of it; null for all of them, -1 for the state before the query. */
  readonly position: number | null;
}

/** Where a new branch leaves another one. */
export interface NewFork extends BranchPoint {
  /** That of the branch it leaves where left out. */
  readonly title?: string;
}
