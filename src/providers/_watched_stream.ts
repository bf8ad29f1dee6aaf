import { ENDED } from "../domain/ended.ts";
import { Cancelled, ProviderError } from "../domain/errors.ts";
import type { Clock } from "./_clock.ts";
import type { ModelEvent, ModelRequest, Provider } from "./provider.ts";

export interface Patience {
  readonly clock: Clock;
  /** Until the first text or reasoning. */
  readonly firstTokenMs: number;
  /** Between two events after that. */
  readonly silenceMs: number;
}

/** One stream of a provider that ends as soon as the caller cancels (`Cancelled`) or the service keeps silent for too
 * long (`ProviderError`, stall), even where the provider does not react to its signal. */
export async function* watchedStream(
  provider: Provider,
  request: ModelRequest,
  patience: Patience,
): AsyncGenerator<ModelEvent> {
  const watch = new Watch(provider.name, request.signal, patience);
  const events = provider.stream({ ...request, signal: watch.signal })[Symbol.asyncIterator]();
  try {
    while (true) {
      const step = await watch.race(events.next());
      if (step.done) return;
      watch.heard(step.value);
      yield step.value;
    }
  } finally {
    watch.stop();
    // Not awaited: a provider that hangs would hang its caller.
    events.return?.().catch(() => {});
  }
}

/** Ends a wait when the caller cancels or the time is up, whichever comes first. */
class Watch {
  readonly #provider: string;
  readonly #caller: AbortSignal;
  readonly #patience: Patience;
  readonly #abort = new AbortController();
  readonly #over: Promise<never>;
  #fail: (error: Error) => void = () => {};
  #since: number;
  #started = false;

  constructor(provider: string, caller: AbortSignal, patience: Patience) {
    this.#provider = provider;
    this.#caller = caller;
    this.#patience = patience;
    this.#since = patience.clock.now();
    this.#over = new Promise((_, reject) => this.#fail = reject);
    this.#over.catch(() => {});
    caller.addEventListener("abort", this.#cancel, { once: true });
    if (caller.aborted) this.#cancel();
    else void this.#guard();
  }

  /** What the provider listens to. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get #limitMs(): number {
    return this.#started ? this.#patience.silenceMs : this.#patience.firstTokenMs;
  }

  race<T>(work: Promise<T>): Promise<T> {
    // A provider may see its signal first and say Cancelled for what was a stall.
    const own = work.catch((error) => error instanceof Cancelled && this.signal.aborted ? this.#over : throwIt(error));
    return Promise.race([this.#over, own]);
  }

  heard(event: ModelEvent): void {
    this.#since = this.#patience.clock.now();
    if (event.type !== "end") this.#started = true;
  }

  stop(): void {
    this.#caller.removeEventListener("abort", this.#cancel);
    this.#abort.abort(ENDED);
  }

  #cancel = () => this.#end(new Cancelled("Cancelled"));

  /** One timer at a time, however many events come. */
  async #guard(): Promise<void> {
    const { clock } = this.#patience;
    try {
      while (!this.signal.aborted) {
        const left = this.#since + this.#limitMs - clock.now();
        if (left <= 0) return this.#end(this.#stalled());
        await clock.sleep(left, this.signal);
      }
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    }
  }

  #end(error: Error): void {
    this.#fail(error);
    this.#abort.abort();
  }

  #stalled(): ProviderError {
    const seconds = Math.round(this.#limitMs / 1000);
    const what = this.#started ? "it fell silent" : "no first word came";
    return new ProviderError(
      `Cannot get a reply from ${this.#provider}: ${what} for ${seconds} s; try again or choose another model`,
      { kind: "stall", retryable: true },
    );
  }
}

function throwIt(error: unknown): never {
  throw error;
}
