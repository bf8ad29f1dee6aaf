import { bareList } from "../../codec/intrinsics.ts";
import { captured } from "../intrinsics/captured.ts";
import { TimedEntry } from "./timed_entry.ts";

/** A plain queue: foreign code may have replaced the methods of Array. */
class Tasks {
  #tasks = bareList<() => void>();
  #next = 0;

  get waiting(): boolean {
    return this.#next < this.#tasks.length;
  }

  add(run: () => void): void {
    this.#tasks[this.#tasks.length] = run;
  }

  /** Takes each task out before it runs, so that a stopped turn does not run it again. */
  runAll(): void {
    while (this.waiting) this.#tasks[this.#next++]!();
    this.#tasks = bareList();
    this.#next = 0;
  }
}

export interface TurnOptions {
  /** How many milliseconds the next turn may take. */
  readonly limitMs: () => number;
  /** Called when a turn was stopped at its limit. */
  readonly onStopped: () => void;
  /** Called when foreign code has been left, however a turn ended. */
  readonly onLeft: () => void;
  /** Called when no turn waits. */
  readonly onIdle: () => void;
}

/** If a limit expires just when the turn ends, its termination hits whatever runs next, and nothing can catch that.
 * Therefore no limit is so short that an ordinary turn comes close to it; a block that is out of time is told before
 * the turn. */
const SHORTEST_MS = 50;

/** Tasks that enter foreign code, each turn under a time limit. Messages arrive inside a microtask, where nothing can
 * be drained, so a task runs in the next immediate. Tasks that wait together share one entry. */
export class TimedTasks {
  readonly #entry = new TimedEntry();
  readonly #options: TurnOptions;
  readonly #tasks = new Tasks();
  readonly #afterwards = new Tasks();
  #scheduled = false;
  /** Inside `onIdle`: a turn that is scheduled there follows without the event loop. */
  #idle = false;
  #inside = false;
  #operations = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  get inside(): boolean {
    return this.#inside;
  }

  /** Whether a turn for tasks follows, and `onIdle` after it. */
  get isDue(): boolean {
    return this.#scheduled;
  }

  /** Whether there are tasks, or runtime operations that will add some. */
  get areWaiting(): boolean {
    return this.#tasks.waiting || this.#operations > 0;
  }

  operations(change: 1 | -1): void {
    this.#operations += change;
  }

  /** `run` must not throw. */
  soon(run: () => void): void {
    this.#tasks.add(run);
    if (!this.#inside) this.#schedule();
  }

  /** For changes to the runtime's own lists (timers, immediates, asynchronous operations): a limit that stops a turn in
   * the middle of such a change would corrupt them. Runs when the turn has ended, or immediately outside of one. */
  afterwards(run: () => void): void {
    if (this.#inside) this.#afterwards.add(run);
    else run();
  }

  /** Runs a turn with its own limit; `after` runs when it has ended, stopped or not. */
  alone(entry: { readonly limitMs: number; readonly task: () => void; readonly after: () => void }): void {
    this.#operations++;
    captured.setImmediate(() => {
      this.#operations--;
      this.#enter(entry.limitMs, entry.task);
      entry.after();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (!this.#idle) captured.setImmediate(() => this.#turn());
  }

  #turn(): void {
    for (;;) {
      this.#scheduled = false;
      const finished = this.#enter(this.#options.limitMs(), () => this.#tasks.runAll());
      if (this.#tasks.waiting) this.#schedule();
      if (!finished) this.#options.onStopped();
      if (this.#scheduled) return;
      this.#idle = true;
      this.#options.onIdle();
      this.#idle = false;
      if (!this.#scheduled) return;
    }
  }

  #enter(limitMs: number, task: () => void): boolean {
    this.#inside = true;
    const finished = this.#entry.run(limitMs > SHORTEST_MS ? limitMs : SHORTEST_MS, task);
    this.#inside = false;
    this.#options.onLeft();
    this.#afterwards.runAll();
    return finished;
  }
}
