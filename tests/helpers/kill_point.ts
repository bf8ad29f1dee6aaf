export interface KillPoint {
  readonly step: number;
  /** Examples are "request", "before endIteration", "block_started 0" and "within endIteration". */
  readonly site: string;
  /** The default is the first occurrence. For "within", the number selects a statement of the transaction. */
  readonly nth?: number;
  readonly child?: boolean;
}
