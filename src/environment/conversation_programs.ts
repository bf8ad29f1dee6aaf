import type { Spawn, Spawned, SpawnOptions } from "../extension/spawned.ts";

type WallSpawn = (workspace: string, argv: readonly string[], options: SpawnOptions) => Promise<Spawned>;

/** Programs of one conversation: those of a call end with the call, those of a query with it, the others with the
 * conversation. */
export class ConversationPrograms {
  readonly #closed = new AbortController();
  #query = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** Whether one runs. */
  get running(): boolean {
    return this.#running.size > 0;
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Aborts with the end of the running query. */
  get query(): AbortSignal {
    return this.#query.signal;
  }

  /** What was started outside a call ends. */
  endQuery(): void {
    this.#query.abort(new Error("Ended: the query is over"));
    this.#query = new AbortController();
  }

  /** `env.spawn` of one call, or of what else has a signal. */
  bind(spawn: WallSpawn, { workspace, signal }: { readonly workspace: string; readonly signal: AbortSignal }): Spawn {
    return (argv, options = {}) => {
      const lives = options.lifetime === "conversation" ? [this.#closed.signal] : [this.#closed.signal, signal];
      const all = AbortSignal.any(options.signal ? [...lives, options.signal] : lives);
      const running = spawn(workspace, argv, { ...options, signal: all });
      const ended = running.then(() => {}, () => {}).finally(() => this.#running.delete(ended));
      this.#running.add(ended);
      return running;
    };
  }

  /** Ends all of them and waits until nothing of them is left. */
  async close(): Promise<void> {
    this.#closed.abort(new Error("Ended: the conversation was closed"));
    await Promise.all(this.#running);
  }
}
