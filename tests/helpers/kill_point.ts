/** The point at which a process of killable_main.ts ends. */
export interface KillPoint {
  /** The 1-based step of the script. */
  readonly step: number;
  /** Such as "request", "before endIteration", "block_started 0" or "within endIteration". */
  readonly site: string;
  /** Selects the occurrence, by default the first. For "within", the statement of the transaction. */
  readonly nth?: number;
  /** Whether to kill the sandbox first. */
  readonly child?: boolean;
}
