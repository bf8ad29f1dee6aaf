import { BlockDeadline } from "./deadline.ts";

interface Watched {
  /** When it counts as stuck; null while its time is paused. */
  due: number | null;
  /** Milliseconds left when it resumes. */
  left: number;
}

/** Deadlines, watched from the child's main thread, which no loop of the worker can starve. The worker ends its blocks
 * itself; a block that has not ended `graceMs` after its deadline cannot be stopped, and the child must be killed. */
export class RunWatch {
  readonly #graceMs: number;
  readonly #onStuck: (id: string) => void;
  readonly #watched = new Map<string, Watched>();
  readonly #deadline = new BlockDeadline({
    setTimeout: (f, ms) => setTimeout(f, ms),
    clearTimeout: (handle) => clearTimeout(handle),
    now: () => performance.now(),
    onDue: () => this.#onDue(),
  });

  constructor(graceMs: number, onStuck: (id: string) => void) {
    this.#graceMs = graceMs;
    this.#onStuck = onStuck;
  }

  begin(id: string, deadlineMs: number): void {
    this.#watched.set(id, { due: null, left: deadlineMs + this.#graceMs });
    this.resume(id);
  }

  /** A cancelled run has only the grace time left. */
  cancel(id: string): void {
    if (this.#watched.has(id)) this.begin(id, 0);
  }

  /** Pauses its time. A worker sends `resume` before it continues to compute. */
  pause(id: string): void {
    const watched = this.#watched.get(id);
    if (!watched || watched.due === null) return;
    watched.left = watched.due - performance.now();
    watched.due = null;
    this.#next();
  }

  resume(id: string): void {
    const watched = this.#watched.get(id);
    if (!watched || watched.due !== null) return;
    watched.due = performance.now() + watched.left;
    this.#next();
  }

  settled(id: string): void {
    if (this.#watched.delete(id)) this.#next();
  }

  #next(): void {
    let first: number | null = null;
    for (const { due } of this.#watched.values()) if (due !== null && (first === null || due < first)) first = due;
    this.#deadline.set(first);
  }

  /** Reports each run once. */
  #onDue(): void {
    const now = performance.now();
    for (const [id, watched] of this.#watched) {
      if (watched.due === null || watched.due > now) continue;
      this.#watched.delete(id);
      this.#onStuck(id);
    }
    this.#next();
  }
}
