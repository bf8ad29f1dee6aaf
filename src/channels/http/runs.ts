import { Run } from "./run.ts";
import { Problem } from "./problem.ts";

/** Runs that have ended and can still be followed from where a client lost them. */
const KEPT_RUNS = 100;

/** Every query that this process runs, and the last ones that it ran. */
export class Runs {
  readonly #byQuery = new Map<string, Run>();
  readonly #running = new Set<Run>();
  #closing = false;

  get closing(): boolean {
    return this.#closing;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Begins a run and waits for its first event. Rejects as `Conversations.send` where nothing was begun. */
  async begin(...given: ConstructorParameters<typeof Run>): Promise<{ readonly run: Run; readonly queryId: string }> {
    if (this.#closing) throw new Problem("Cannot begin a query: the server is ending", { kind: "unavailable" });
    const run = new Run(...given);
    this.#running.add(run);
    const gone = (): void => void this.#running.delete(run);
    run.ended.then(gone, gone);
    const { queryId } = await run.started;
    this.#byQuery.set(queryId, run);
    this.#forget();
    return { run, queryId };
  }

  byQuery(queryId: string): Run | null {
    return this.#byQuery.get(queryId) ?? null;
  }

  /** Those of a conversation that have not ended, waiting ones included. */
  of(conversationId: string): readonly Run[] {
    return [...this.#running].filter((run) => run.conversationId === conversationId);
  }

  /** The running query of a conversation. */
  queryOf(conversationId: string): string | null {
    const found = [...this.#byQuery].find(([, run]) => run.running && run.conversationId === conversationId);
    return found?.[0] ?? null;
  }

  /** Begins no more, gives those that run this long, then cancels them; resolves when all have ended. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#running.forEach((run) => run.cancel()), graceMs);
    try {
      while (this.#running.size > 0) await Promise.allSettled([...this.#running].map(({ ended }) => ended));
    } finally {
      clearTimeout(timer);
    }
  }

  #forget(): void {
    for (const [queryId, run] of this.#byQuery) {
      if (this.#byQuery.size <= KEPT_RUNS) return;
      if (!run.running) this.#byQuery.delete(queryId);
    }
  }
}
