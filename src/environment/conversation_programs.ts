import { oneLine } from "../domain/kit/text.ts";
import type { Spawn, SpawnCaller, Spawned, SpawnOptions } from "../extension/spawned.ts";

type WallSpawn = (
  workspace: string,
  argv: readonly string[],
  options: SpawnOptions,
  caller: SpawnCaller | null,
) => Promise<Spawned>;

/** Failures that are kept for one query, and characters of a title. */
const MOST_FAILED = 20, TITLE_CHARS = 80;

/** Programs of one conversation. Programs started in a call end with the call, those of a query with the query, and the
 * others with the conversation. */
export class ConversationPrograms {
  readonly #closed = new AbortController();
  #query = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #titles = new Map<Promise<unknown>, string>();
  #failed: string[] = [];
  #untold: string[] = [];

  /** Whether a program is running. */
  get running(): boolean {
    return this.#running.size > 0;
  }

  /** The running programs that have a title. */
  get titles(): readonly string[] {
    return [...this.#titles.values()];
  }

  /** Programs with a title that failed by themselves while the query ran, and how. */
  get failed(): readonly string[] {
    return this.#failed;
  }

  /** Notes for the model about them, each once. */
  take(): readonly string[] {
    return this.#untold.splice(0).map((how) => `A command that was started before failed: ${how}`);
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Aborts when the running query ends. */
  get query(): AbortSignal {
    return this.#query.signal;
  }

  /** Ends the programs that the query started outside a call. */
  endQuery(): void {
    this.#query.abort(new Error("Ended: the query is over"));
    this.#query = new AbortController();
    this.#failed = [];
  }

  /** `env.spawn` for one call, or for anything else with a signal; `caller` is null for what the user runs. */
  bind(
    spawn: WallSpawn,
    { workspace, signal, caller = null }: {
      readonly workspace: string;
      readonly signal: AbortSignal;
      readonly caller?: SpawnCaller | null;
    },
  ): Spawn {
    return (argv, options = {}) => {
      const lives = options.lifetime === "conversation" ? [this.#closed.signal] : [this.#closed.signal, signal];
      const all = AbortSignal.any(options.signal ? [...lives, options.signal] : lives);
      const running = spawn(workspace, argv, { ...options, signal: all }, caller);
      const ended = running.then((how) => this.#ended(how, options), () => {}).finally(() => {
        this.#running.delete(ended);
        this.#titles.delete(ended);
      });
      this.#running.add(ended);
      if (options.title !== undefined) this.#titles.set(ended, options.title);
      return running;
    };
  }

  #ended({ code, signal, timedOut }: Spawned, { title, stop }: SpawnOptions): void {
    if (title === undefined || code === 0 || stop?.aborted || this.#failed.length >= MOST_FAILED) return;
    const how = timedOut ? "timed out" : signal === null ? `exit code ${code}` : `ended by ${signal}`;
    const text = `${oneLine(title, TITLE_CHARS)} (${how})`;
    this.#failed.push(text);
    this.#untold.push(text);
  }

  /** Ends all programs and waits until none is left. */
  async close(): Promise<void> {
    this.#closed.abort(new Error("Ended: the conversation was closed"));
    await Promise.all(this.#running);
  }
}
