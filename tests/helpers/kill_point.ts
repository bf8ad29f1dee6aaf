export interface KillPoint {
  readonly step: number;
  /** Examples are "request", "before endIteration", "block_started 0" and "within endIteration". */
  readonly site: string;
  /** Selects the occurrence, by default the first. For "within", it is the statement of the transaction. */
  readonly nth?: number;
  readonly child?: boolean;
}
