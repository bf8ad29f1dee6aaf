/** A call from a block to the main process, at its start or end. */
export interface HostCallEvent {
  readonly block: number;
  readonly name: string;
  readonly phase: "start" | "end";
  readonly ms?: number;
  readonly ok?: boolean;
  /** Files that the call changed, each as a unified diff; bounded. */
  readonly diffs?: readonly string[];
}
