import type { CalledAction } from "./call_action.ts";

/** A call from a block to the main process, at its start or end. */
export interface HostCallEvent {
  readonly block: number;
  readonly name: string;
  readonly phase: "start" | "end";
  /** What the call does, in words; absent for functions of Vis itself. */
  readonly action?: CalledAction | undefined;
  readonly ms?: number | undefined;
  /** False if it threw, or did not do what it was called for: a command that exits with 1. */
  readonly ok?: boolean | undefined;
  /** How it turned out, in a few words: "12 passed". */
  readonly outcome?: string | undefined;
  /** The end of what it printed, if it failed. */
  readonly output?: string | undefined;
  /** Files that the call changed, each as a unified diff; bounded. */
  readonly diffs?: readonly string[] | undefined;
}

/** A call as a `BlockTally` reads it: an event, or what is recorded of a call that ended. */
export type RecordedHostCall =
  & Pick<HostCallEvent, "name" | "ok" | "action" | "outcome" | "output">
  & { readonly phase?: HostCallEvent["phase"] };

/** How a call turned out that returned. */
export interface CallOutcome {
  /** A few words for people who watch: "12 passed", "exit code 1". */
  readonly text: string;
  /** False if it did not do what it was called for; true if absent. */
  readonly ok?: boolean;
  /** What it printed, of which people see the end if it failed. */
  readonly output?: string;
}

/** A file change by a block (0-based), as a unified diff. */
export interface BlockDiff {
  readonly block: number;
  readonly diff: string;
}

/** The changes of a block, from the metadata of its stored iteration. */
export function storedDiffs({ diffs }: Readonly<Record<string, unknown>>, block: number): string[] {
  return (Array.isArray(diffs) ? diffs as unknown[] : []).flatMap((one) => {
    if (typeof one !== "object" || one === null || !("diff" in one) || typeof one.diff !== "string") return [];
    return Reflect.get(one, "block") === block ? [one.diff] : [];
  });
}
