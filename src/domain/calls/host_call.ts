import type { CalledAction } from "./call_action.ts";

/** A call from a block to the main process, at its start or end. */
export interface HostCallEvent {
  readonly block: number;
  readonly name: string;
  readonly phase: "start" | "end";
  /** What the call does, in words; absent for functions of Vis itself. */
  readonly action?: CalledAction | undefined;
  readonly ms?: number | undefined;
  readonly ok?: boolean | undefined;
  /** How it turned out, in a few words: "12 passed". */
  readonly outcome?: string | undefined;
  /** Files that the call changed, each as a unified diff; bounded. */
  readonly diffs?: readonly string[] | undefined;
}

/** A file change by a block (0-based), as a unified diff. */
export interface BlockDiff {
  readonly block: number;
  readonly diff: string;
}
