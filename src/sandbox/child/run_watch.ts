interface Watched {
  readonly stuck: ReturnType<typeof setTimeout>;
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
    const stuck = setTimeout(() => this.#onStuck(id), deadlineMs + this.#graceMs);
    this.#watched.set(id, { stuck });
  }

  /** A cancelled run has only the time of grace. */
  cancel(id: string): void {
    if (!this.#watched.has(id)) return;
    this.settled(id);
    this.begin(id, 0);
  }

  settled(id: string): void {
    clearTimeout(this.#watched.get(id)?.stuck);
    this.#watched.delete(id);
  }
}
