import { captured } from "./captured.ts";
import { TimedEntry, type TimedTurn } from "./timed_entry.ts";

interface Task {
  readonly run: () => void;
  next: Task | null;
}

/** A plain queue: foreign code may have replaced the methods of Array. */
class Tasks {
  #first: Task | null = null;
  #last: Task | null = null;

  get waiting(): boolean {
    return this.#first !== null;
  }

  add(run: () => void): void {
    const task: Task = { run, next: null };
    if (this.#last) this.#last.next = task;
    else this.#first = task;
    this.#last = task;
  }

  /** Takes each task out before it runs, so that a stopped turn does not run it again. */
  runAll(): void {
    for (let task = this.#first; task; task = this.#first) {
      this.#first = task.next;
      if (!this.#first) this.#last = null;
      task.run();
    }
  }
}

export interface TurnOptions {
  /** Milliseconds that the next turn may take. */
  readonly limitMs: () => number;
  /** A turn was stopped at its limit. */
  readonly onStopped: () => void;
  /** Foreign code is entered. */
  readonly onEntered: () => void;
  /** Everything has run that can, and the turn may go on: true where something came that has tasks to run. */
  readonly onDrained: () => boolean;
  /** Foreign code has been left, however a turn ended. */
  readonly onLeft: () => void;
  /** No turn waits: the event loop goes on when something arrives. */
  readonly onIdle: () => void;
}

/**
 * A limit that runs out just when the turn ends leaves its termination to whatever runs next, and nothing can catch
 * that. So no limit is so short that an ordinary turn comes near it; who is out of time is told before the turn.
 */
const SHORTEST_MS = 50;
/** A turn may go on for so long: then the event loop is to see to the rest. Not near its limit, which must not run out
 * between foreign code and foreign code, where our own records would be cut off. */
const STAY_MS = 50, ROOM_MS = 25;

/**
 * Tasks that enter foreign code, each turn under a time limit. Messages arrive inside a microtask, where nothing
 * can be drained, so a task runs in the next immediate. Tasks that wait together share one entry.
 */
export class Turns {
  readonly #entry = new TimedEntry();
  readonly #options: TurnOptions;
  readonly #tasks = new Tasks();
  readonly #afterwards = new Tasks();
  #scheduled = false;
  #inside = false;
  #operations = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  get inside(): boolean {
    return this.#inside;
  }

  /** Whether there are tasks, or operations of the runtime that will bring some. */
  get areWaiting(): boolean {
    return this.#tasks.waiting || this.#operations > 0;
  }

  operations(change: 1 | -1): void {
    this.#operations += change;
  }

  /** In the next immediate, which the worker must not sleep before. `task` must not throw. */
  immediately(task: () => void): void {
    this.#operations++;
    captured.setImmediate(() => {
      this.#operations--;
      task();
    });
  }

  /** What waits runs now: from a timer or an immediate. */
  now(): void {
    if (this.#scheduled) this.#turn();
  }

  /** `run` must not throw. */
  soon(run: () => void): void {
    this.#tasks.add(run);
    if (!this.#inside) this.#schedule();
  }

  /**
   * For what touches the runtime's own lists (timers, immediates, asynchronous operations): a limit that stops a turn
   * in the middle of such a change would leave them broken. Runs when the turn has ended; at once outside of one.
   */
  afterwards(run: () => void): void {
    if (this.#inside) this.#afterwards.add(run);
    else run();
  }

  /** A turn with a limit of its own; `after` runs when it has ended, stopped or not. */
  alone(entry: { readonly limitMs: number; readonly task: () => void; readonly after: () => void }): void {
    this.immediately(() => {
      this.#enter(entry.limitMs, { task: entry.task, again: () => false });
      entry.after();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    captured.setImmediate(() => {
      if (this.#scheduled) this.#turn();
    });
  }

  #turn(): void {
    this.#scheduled = false;
    const limitMs = this.#options.limitMs();
    const until = captured.now() + (limitMs - ROOM_MS < STAY_MS ? limitMs - ROOM_MS : STAY_MS);
    const finished = this.#enter(limitMs, {
      task: () => this.#tasks.runAll(),
      again: () => this.#goesOn(until),
    });
    if (this.#tasks.waiting) this.#schedule();
    if (!finished) this.#options.onStopped();
    if (!this.#scheduled) this.#options.onIdle();
  }

  #goesOn(until: number): boolean {
    if (this.#tasks.waiting || this.#afterwards.waiting || captured.now() > until) return false;
    if (!this.#options.onDrained()) return false;
    this.#tasks.runAll();
    return true;
  }

  #enter(limitMs: number, turn: TimedTurn): boolean {
    this.#inside = true;
    this.#options.onEntered();
    const finished = this.#entry.run(limitMs > SHORTEST_MS ? limitMs : SHORTEST_MS, turn);
    this.#inside = false;
    this.#options.onLeft();
    this.#afterwards.runAll();
    return finished;
  }
}
