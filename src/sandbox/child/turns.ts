import { captured } from "./captured.ts";
import { TimedEntry } from "./timed_entry.ts";

interface Task {
  readonly run: () => void;
  next: Task | null;
}

export interface TurnOptions {
  /** Milliseconds that the next turn may take. */
  readonly limitMs: () => number;
  /** A turn was stopped at its limit. */
  readonly onStopped: () => void;
}

/**
 * Tasks that enter foreign code, each turn under a time limit. Messages arrive inside a microtask, where nothing
 * can be drained, so a task runs in the next immediate. Tasks that wait together share one entry.
 */
export class Turns {
  readonly #entry = new TimedEntry();
  readonly #options: TurnOptions;
  #first: Task | null = null;
  #last: Task | null = null;
  #scheduled = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** `run` must not throw. */
  soon(run: () => void): void {
    const task: Task = { run, next: null };
    if (this.#last) this.#last.next = task;
    else this.#first = task;
    this.#last = task;
    this.#schedule();
  }

  /** A turn with a limit of its own; `after` runs when it has ended, stopped or not. */
  alone(entry: { readonly limitMs: number; readonly task: () => void; readonly after: () => void }): void {
    captured.setImmediate(() => {
      this.#entry.run(entry.limitMs, entry.task);
      entry.after();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    captured.setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    const finished = this.#entry.run(this.#options.limitMs(), () => this.#runAll());
    if (this.#first) this.#schedule();
    if (!finished) this.#options.onStopped();
  }

  /** Takes each task out before it runs, so that a stopped turn does not run it again. */
  #runAll(): void {
    for (let task = this.#first; task; task = this.#first) {
      this.#first = task.next;
      if (!this.#first) this.#last = null;
      task.run();
    }
  }
}
