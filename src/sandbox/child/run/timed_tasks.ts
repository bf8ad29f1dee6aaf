import { bareList } from "../../codec/intrinsics.ts";
import { captured } from "../realm/captured.ts";

interface Task {
  readonly run: () => void;
  readonly owner: RunContext | null;
}

/** Foreign code may have replaced the methods of Array, so this class keeps a plain list. */
class Tasks {
  #tasks = bareList<Task>();
  #next = 0;

  get waiting(): boolean {
    return this.#next < this.#tasks.length;
  }

  get owner(): RunContext | null {
    return this.#tasks[this.#next]?.owner ?? null;
  }

  add(run: () => void, owner: RunContext | null = null): void {
    this.#tasks[this.#tasks.length] = { run, owner };
  }

  /** The queue removes a task before it runs, so that a stopped turn does not repeat the task. */
  runAll(): void {
    const { owner } = this;
    while (this.waiting && this.owner === owner) this.#tasks[this.#next++]!.run();
    if (this.waiting) return;
    this.#tasks = bareList();
    this.#next = 0;
  }
}

interface TurnOptions {
  readonly limitMs: (owner: RunContext | null) => number;
  readonly onStopped: (owner: RunContext | null) => void;
  readonly onLeft: () => void;
  readonly onIdle: () => void;
}

/** A limit that expires just when the turn ends would terminate unrelated code, which cannot catch the termination.
 * Each limit therefore has at least this length. */
const SHORTEST_MS = 50;

/** Messages arrive inside a microtask, where nothing can drain microtasks, so a task runs in the next immediate. */
export class TimedTasks {
  readonly #entry = new TimedEntry();
  readonly #options: TurnOptions;
  readonly #tasks = new Tasks();
  readonly #afterwards = new Tasks();
  #scheduled = false;
  #idle = false;
  #inside = false;
  #operations = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  get inside(): boolean {
    return this.#inside;
  }

  get isDue(): boolean {
    return this.#scheduled;
  }

  get areWaiting(): boolean {
    return this.#tasks.waiting || this.#operations > 0;
  }

  operations(change: 1 | -1): void {
    this.#operations += change;
  }

  soon(run: () => void, owner: RunContext | null): void {
    this.#tasks.add(run, owner);
    if (!this.#inside) this.#schedule();
  }

  /** A limit that stops a turn while it changes the runtime's own lists (timers, operations) would corrupt these
   * lists. */
  afterwards(run: () => void): void {
    if (this.#inside) this.#afterwards.add(run);
    else run();
  }

  /** `after` runs when the turn has ended, even if its limit stopped it. */
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
      const { owner } = this.#tasks;
      const finished = this.#enter(this.#options.limitMs(owner), () => this.#tasks.runAll());
      if (this.#tasks.waiting) this.#schedule();
      if (!finished) this.#options.onStopped(owner);
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

/** Foreign code may call this function without effect, because the function takes the task before the task runs. */
const TRAMPOLINE = "$sandboxTurn";

/** The timeout of a script stops loops and keeps variables, but does not cover code after an `await`. This script
 * therefore runs the task and drains the microtasks within the same limit. V8 drops the rest of the microtask queue
 * when a limit stops a drain. */
class TimedEntry {
  readonly #script: InstanceType<typeof captured.Script>;
  #task: (() => void) | null = null;
  #finished = true;

  constructor() {
    const slot = `${TRAMPOLINE}Slot`;
    const trampoline = (): void => {
      const task = this.#task;
      if (!task) return;
      this.#task = null;
      task();
      captured.runMicrotasks();
      this.#finished = true;
    };
    captured.defineProperty(globalThis, slot, { value: trampoline, configurable: true });
    new captured.Script(`const ${TRAMPOLINE} = ${slot}`, { filename: "sandbox" }).runInThisContext();
    Reflect.deleteProperty(globalThis, slot);
    this.#script = new captured.Script(`${TRAMPOLINE}()`, { filename: "sandbox" });
  }

  /** A timer or an immediate must call this method, and the task must not throw. Returns false if the limit stopped the
   * turn. */
  run(limitMs: number, task: () => void): boolean {
    this.#task = task;
    this.#finished = false;
    try {
      this.#script.runInThisContext({ timeout: limitMs | 0 });
    } catch {
      this.#task = null; // The limit was reached, or foreign code used up the stack or memory.
      captured.context.leave(); // A stopped script has not run the `finally` of its context.
    }
    return this.#finished;
  }
}

export interface RunContext {
  readonly id: string;
  /** `ended` is the reason why the block must start no more work, or "". */
  ended: string;
}
