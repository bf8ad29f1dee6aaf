import type { EnvironmentView } from "@vis/extension";
import { OutputRing } from "./output_ring.ts";

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type Ended = Awaited<ReturnType<Spawn>>;
type SpawnOptions = NonNullable<Parameters<Spawn>[1]>;

/** Limit for both outputs together, in order of arrival. */
const KEPT_BYTES = 256 << 10;
const DEFAULT_BYTES = 64 << 10;

export interface ReadOutputOptions {
  /** How long to wait for new output, or for `until`. */
  readonly waitMs?: number;
  /** A text to wait for. */
  readonly until?: string;
  readonly maxBytes?: number;
}

export interface JobReport {
  readonly id: string;
  readonly running: boolean;
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** New output since the last read, of both outputs. */
  readonly output: string;
  /** Bytes before it that were dropped because they were not read in time. */
  readonly missed: number;
  /** New bytes that are still to be read. */
  readonly left: number;
  readonly ms: number;
  readonly notes?: readonly string[];
}

/** A command that keeps running between calls. */
export class Job {
  readonly id: string;
  readonly command: string;
  readonly #begun = performance.now();
  readonly #ring = new OutputRing(KEPT_BYTES);
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #done: Promise<void>;
  #read = 0;
  #ended: Ended | null = null;
  #failed: unknown = null;
  #endedAt = 0;

  constructor(
    { id, command }: { readonly id: string; readonly command: string },
    spawn: (options: SpawnOptions) => Promise<Ended>,
  ) {
    this.id = id;
    this.command = command;
    const running = spawn({
      lifetime: "conversation",
      title: command,
      maxBytes: 4096,
      stop: this.#stop.signal,
      onOutput: (_output, bytes) => {
        this.#ring.push(bytes);
        this.#wake();
      },
    });
    this.#done = running.then((ended) => void (this.#ended = ended), (error: unknown) => void (this.#failed = error))
      .finally(() => {
        this.#endedAt = performance.now();
        this.#wake();
      });
  }

  get running(): boolean {
    return this.#ended === null && this.#failed === null;
  }

  /** The program did not run, or was ended with the conversation. */
  get failed(): boolean {
    return this.#failed !== null;
  }

  /** Waits as requested, then returns new output. Throws the reason if no program ran. */
  async read(
    { waitMs = 0, until, maxBytes = DEFAULT_BYTES }: ReadOutputOptions,
    signal?: AbortSignal,
  ): Promise<JobReport> {
    const enough = (): boolean => {
      if (!this.running) return true;
      if (until === undefined) return this.#ring.from(this.#read, { maxBytes: 8, whole: false }).to > this.#read;
      return this.#ring.from(this.#read, { maxBytes: KEPT_BYTES, whole: false }).text.includes(until);
    };
    await this.#wait(enough, { waitMs, signal });
    return this.#report(maxBytes);
  }

  /** Asks the command to end, kills it if it does not, and returns new output. */
  async stop(): Promise<JobReport> {
    this.#stop.abort();
    await this.#done;
    return this.#report(DEFAULT_BYTES);
  }

  get brief(): Readonly<{ id: string; command: string; running: boolean; code: number | null; ms: number }> {
    return { id: this.id, command: this.command, running: this.running, code: this.#ended?.code ?? null, ms: this.#ms };
  }

  get #ms(): number {
    return Math.round((this.running ? performance.now() : this.#endedAt) - this.#begun);
  }

  #report(maxBytes: number): JobReport {
    if (this.#failed !== null) throw this.#failed;
    const { text, to, missed } = this.#ring.from(this.#read, { maxBytes, whole: !this.running });
    this.#read = to;
    const { code = null, signal = null, timedOut = false, notes = [] } = this.#ended ?? {};
    const facts = { id: this.id, running: this.running, code, signal, timedOut };
    const report = { ...facts, output: text, missed, left: this.#ring.total - to, ms: this.#ms };
    return notes.length > 0 ? { ...report, notes } : report;
  }

  async #wait(
    enough: () => boolean,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    if (waitMs === 0 || enough()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => void (enough() && resolve());
    const timer = setTimeout(resolve, waitMs);
    const given = (): void => resolve();
    this.#waiting.add(look);
    signal?.addEventListener("abort", given);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(look);
    signal?.removeEventListener("abort", given);
    signal?.throwIfAborted();
  }

  #wake(): void {
    for (const look of this.#waiting) look();
  }
}
