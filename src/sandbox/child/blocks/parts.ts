import type { HostCalls } from "../run/host_calls.ts";
import type { InjectedNames } from "../realm/injected_names.ts";
import type { Compiler } from "../compiler/compiler.ts";
import type { Pipe } from "../pipe/pipe.ts";
import type { Notes } from "../run/notes.ts";
import type { Output } from "../run/output.ts";
import type { OutsideWork } from "../platform/outside_work.ts";
import type { Timers } from "../run/timers.ts";
import type { ShownResults } from "./shown_results.ts";
import type { TimedTasks } from "../run/turns.ts";
import type { RealmVariables } from "../variables/variables.ts";

/** What the parts beside foreign code share. Created once, in script.ts. */
export interface BlockParts {
  readonly pipe: Pipe;
  readonly compiler: Compiler;
  /** Ends the child, with a reason if it is a fault. */
  readonly end: (why: string | null) => void;
  /** Whether nothing that a block started is still running. */
  readonly isQuiet: () => boolean;
  readonly turns: TimedTasks;
  readonly output: Output;
  readonly calls: HostCalls;
  readonly outside: OutsideWork;
  readonly timers: Timers;
  readonly names: InjectedNames;
  readonly notes: Notes;
  readonly results: ShownResults;
  readonly variables: RealmVariables;
  /** Bounded text of any value; runs no code of it. */
  /** `chars` is a lower limit than that of the settings. */
  readonly preview: (value: unknown, chars?: number) => string;
}
