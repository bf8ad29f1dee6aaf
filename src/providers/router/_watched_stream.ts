import { Cancelled, ENDED, ProviderError } from "../../domain/errors.ts";
import { abortable, type Clock } from "../../domain/kit/concurrency.ts";
import type { ModelEvent, ModelRequest, Provider } from "../provider.ts";

export interface Patience {
  readonly clock: Clock;
  readonly firstTokenMs: number;
  readonly silenceMs: number;
  readonly replyMs: number;
  readonly onWait?:
    | ((wait: { readonly model: string; readonly waitedMs: number; readonly limitMs: number }) => void)
    | undefined;
}

const FIRST_NOTICE_MS = 15_000;
/** A person who plays the model may take days, so a limit of this size turns the notices off. */
const UNLIMITED_MS = 86_400_000;

/** The stream ends in time even if the provider ignores its signal. Throws `Cancelled` when the caller cancels, and
 * `ProviderError` of code "stall" or "reply" at a limit. */
export async function* watchedStream(
  provider: Provider,
  request: ModelRequest,
  patience: Patience,
): AsyncGenerator<ModelEvent> {
  const watch = new Watch(provider.name, request, patience);
  const onBytes = () => watch.alive();
  const events = provider.stream({ ...request, signal: watch.signal, onBytes })[Symbol.asyncIterator]();
  try {
    while (true) {
      const step = await watch.race(events.next());
      if (step.done) return;
      watch.heard(step.value);
      yield step.value;
    }
  } finally {
    watch.stop();
    // `return` may wait for a hanging provider, so the stream does not wait for `return`.
    events.return?.().catch(() => {});
  }
}

class Watch {
  readonly #provider: string;
  readonly #caller: AbortSignal;
  readonly #model: string;
  readonly #patience: Patience;
  readonly #abort = new AbortController();
  readonly #begun: number;
  #since: number;
  #started = false;
  #noticeMs = FIRST_NOTICE_MS;

  constructor(provider: string, { signal: caller, model }: ModelRequest, patience: Patience) {
    this.#provider = provider;
    this.#model = model;
    this.#caller = caller;
    this.#patience = patience;
    this.#begun = this.#since = patience.clock.now();
    caller.addEventListener("abort", this.#cancel, { once: true });
    if (caller.aborted) this.#cancel();
    else void this.#guard();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get #limitMs(): number {
    return this.#started ? this.#patience.silenceMs : this.#patience.firstTokenMs;
  }

  race<T>(work: Promise<T>): Promise<T> {
    // After a limit aborts the signal, a provider may throw `Cancelled`, but the caller needs the error of the limit.
    const own = work.catch((error) => {
      throw error instanceof Cancelled && this.signal.aborted ? this.signal.reason : error;
    });
    return abortable(own, this.signal);
  }

  alive(): void {
    this.#since = this.#patience.clock.now();
  }

  heard(event: ModelEvent): void {
    this.alive();
    if (event.type !== "end") this.#started = true;
  }

  stop(): void {
    this.#caller.removeEventListener("abort", this.#cancel);
    this.#abort.abort(ENDED);
  }

  #cancel = () => this.#end(new Cancelled("Cancelled"));

  /** The timer sleeps at most `silenceMs`, because the first text or reasoning can start this limit during a sleep. */
  async #guard(): Promise<void> {
    const { clock, replyMs, silenceMs } = this.#patience;
    while (!this.signal.aborted) {
      const silent = this.#since + this.#limitMs - clock.now();
      const whole = this.#begun + replyMs - clock.now();
      if (silent <= 0) return this.#end(this.#stalled());
      if (whole <= 0) return this.#end(this.#endless());
      await clock.sleep(Math.min(silent, whole, silenceMs, this.#untilNotice()), this.signal)
        .catch((error: unknown) => {
          if (!(error instanceof Cancelled)) throw error;
        });
    }
  }

  #untilNotice(): number {
    const { clock, firstTokenMs, replyMs, onWait } = this.#patience;
    if (this.#started || !onWait || firstTokenMs >= UNLIMITED_MS) return Infinity;
    const waitedMs = clock.now() - this.#begun;
    if (waitedMs >= this.#noticeMs) {
      const limitMs = Math.min(replyMs, this.#since - this.#begun + firstTokenMs);
      onWait({ model: this.#model, waitedMs, limitMs });
      while (this.#noticeMs <= waitedMs) this.#noticeMs *= 2;
    }
    return this.#noticeMs - waitedMs;
  }

  #end(error: Error): void {
    this.#abort.abort(error);
  }

  #stalled(): ProviderError {
    const seconds = this.#limitMs / 1000;
    const advice = this.#started
      ? `it sent nothing for ${seconds} s; try again, choose another model, or raise silenceMs of its entry ` +
        "in providers (config.jsonc)"
      : `its first word did not come within ${seconds} s; raise firstTokenMs of its entry in providers (config.jsonc)`;
    // A slow server that has not begun to reply would begin the same work again.
    return new ProviderError(`Cannot get a reply from ${this.#provider}: ${advice}`, {
      code: "stall",
      retryable: this.#started,
    });
  }

  #endless(): ProviderError {
    const minutes = Math.round(this.#patience.replyMs / 60_000);
    return new ProviderError(
      `Cannot use the reply of ${this.#provider}: it did not end within ${minutes} min; ` +
        `ask for a shorter reply or choose another model`,
      { code: "reply", retryable: false },
    );
  }
}
