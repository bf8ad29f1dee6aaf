/** Where a process of killable_main.ts ends. */
export interface KillPoint {
  /** 1-based step of the script. */
  readonly step: number;
  /** "request", "before endIteration", "block_started 0", "within endIteration" … */
  readonly site: string;
  /** The first time by default. For "within", the statement of the transaction. */
  readonly nth?: number;
  /** Kills the sandbox first. */
  readonly child?: boolean;
}
