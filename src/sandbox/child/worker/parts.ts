import type { HostCalls } from "../run/host_calls.ts";
import type { InjectedNames } from "../realm/injected_names.ts";
import type { Post } from "../link/messages.ts";
import type { Notes } from "../run/notes.ts";
import type { Output } from "../run/output.ts";
import type { OutsideWork } from "../platform/outside_work.ts";
import type { Timers } from "../run/timers.ts";
import type { ShownResults } from "./shown_results.ts";
import type { TimedTasks } from "../run/turns.ts";
import type { RealmVariables } from "../variables/variables.ts";

/** What the parts of the worker share. Created once, in worker.ts. */
export interface WorkerParts {
  readonly post: Post;
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
  readonly preview: (value: unknown, max?: number) => string;
}
