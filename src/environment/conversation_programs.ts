import type { Spawn, Spawned, SpawnOptions } from "../extension/spawned.ts";

type WallSpawn = (workspace: string, argv: readonly string[], options: SpawnOptions) => Promise<Spawned>;

/** Programs of one conversation: those of a call end with the call, the others with the conversation. */
export class ConversationPrograms {
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** `env.spawn` of one call. */
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
