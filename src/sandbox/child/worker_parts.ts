import type { HostCalls } from "./host_calls.ts";
import type { InjectedNames } from "./injected_names.ts";
import type { Post } from "./messages.ts";
import type { Notes } from "./notes.ts";
import type { Output } from "./output.ts";
import type { OutsideWork } from "./outside_work.ts";
import type { Timers } from "./timers.ts";
import type { TimedTasks } from "./turns.ts";
import type { RealmVariables } from "./variables.ts";

/** What the parts of the worker share. Made once, in worker.ts. */
export interface WorkerParts {
  readonly post: Post;
  /** Whether nothing that a block started continues. */
  readonly isQuiet: () => boolean;
  readonly turns: TimedTasks;
  readonly output: Output;
  readonly calls: HostCalls;
  readonly outside: OutsideWork;
  readonly timers: Timers;
  readonly names: InjectedNames;
  readonly notes: Notes;
  readonly variables: RealmVariables;
  /** Bounded text of any value; runs nothing of it. */
  readonly preview: (value: unknown) => string;
}
