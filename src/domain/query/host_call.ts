/** A call from a block to the main process, as it begins and as it ends. */
export interface HostCallEvent {
  readonly block: number;
  readonly name: string;
  readonly phase: "start" | "end";
  readonly ms?: number;
  readonly ok?: boolean;
  /** How files were changed by the call: a unified diff each, bounded. */
  readonly diffs?: readonly string[];
}
