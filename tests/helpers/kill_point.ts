export interface KillPoint {
  readonly step: number;
  /** Examples are "request", "before endIteration", "block_started 0" and "within endIteration". */
  readonly site: string;
  readonly nth?: number;
  readonly child?: boolean;
}
