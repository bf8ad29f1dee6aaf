interface Watched {
  stuck: ReturnType<typeof setTimeout> | null;
  /** Milliseconds until it counts as stuck, from `since` on. */
  left: number;
  since: number;
}

/**
 * Deadlines seen from the main thread of the child, which no loop of the worker can starve. The worker ends its
 * blocks itself; a block that it has not ended `graceMs` after its deadline cannot be stopped, and the child must go.
 */
export class RunWatch {
  readonly #graceMs: number;
  readonly #onStuck: (id: string) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(graceMs: number, onStuck: (id: string) => void) {
    this.#graceMs = graceMs;
    this.#onStuck = onStuck;
  }

  begin(id: string, deadlineMs: number): void {
    this.#watched.set(id, { stuck: null, left: deadlineMs + this.#graceMs, since: 0 });
    this.resume(id);
  }

  /** A cancelled run has only the time of grace. */
  cancel(id: string): void {
    if (!this.#watched.has(id)) return;
    this.settled(id);
    this.begin(id, 0);
  }

  /** Its time stands still. A worker that says so before it computes on says `resume` first. */
  pause(id: string): void {
    const watched = this.#watched.get(id);
    if (!watched || watched.stuck === null) return;
    clearTimeout(watched.stuck);
    watched.stuck = null;
    watched.left -= performance.now() - watched.since;
  }

  resume(id: string): void {
    const watched = this.#watched.get(id);
    if (!watched || watched.stuck !== null) return;
    watched.since = performance.now();
    watched.stuck = setTimeout(() => this.#onStuck(id), Math.max(0, watched.left));
  }

  settled(id: string): void {
    const stuck = this.#watched.get(id)?.stuck ?? null;
    if (stuck !== null) clearTimeout(stuck);
    this.#watched.delete(id);
  }
}
