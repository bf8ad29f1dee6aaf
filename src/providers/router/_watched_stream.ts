import { Cancelled, ENDED, ProviderError } from "../../domain/errors.ts";
import { abortable, type Clock } from "../../domain/kit/concurrency.ts";
import type { ModelEvent, ModelRequest, Provider } from "../provider.ts";

export interface Patience {
  readonly clock: Clock;
  /** The service may send no byte for this long before the first text or reasoning. */
  readonly firstTokenMs: number;
  /** The service may send no byte for this long after that. */
  readonly silenceMs: number;
  /** The whole reply may take this long, even if it arrives steadily. */
  readonly replyMs: number;
  readonly onWait?:
    | ((wait: { readonly model: string; readonly waitedMs: number; readonly limitMs: number }) => void)
    | undefined;
}

const FIRST_NOTICE_MS = 15_000;
/** A person who takes the place of the model may take days, and knows it. */
const UNLIMITED_MS = 86_400_000;

/** One stream of a provider that ends as soon as the caller cancels (`Cancelled`), the service is silent for too long
 * (`ProviderError`, stall) or its reply does not end (`ProviderError`, reply), even if the provider does not react to
 * its signal. */
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
    // The return is not awaited: a provider that hangs would block its caller.
    events.return?.().catch(() => {});
  }
}

/** Ends a wait when the caller cancels or the time is up, whichever comes first. */
class Watch {
  readonly #provider: string;
  readonly #caller: AbortSignal;
  readonly #model: string;
  readonly #patience: Patience;
  /** Aborted with the reason why the stream ends early. */
  readonly #abort = new AbortController();
  readonly #begun: number;
  #since: number;
  #started = false;
  /** When the caller is told next that the reply has not begun. */
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

  /** The signal for the provider. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get #limitMs(): number {
    return this.#started ? this.#patience.silenceMs : this.#patience.firstTokenMs;
  }

  race<T>(work: Promise<T>): Promise<T> {
    // A provider may react to its signal first and report Cancelled for what was a stall.
    const own = work.catch((error) => {
      throw error instanceof Cancelled && this.signal.aborted ? this.signal.reason : error;
    });
    return abortable(own, this.signal);
  }

  /** Something came: a pause of the model is no silence of its service. */
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

  /** One timer at a time, regardless of the number of events: it never sleeps longer than the limit that the first of
   * them sets. */
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

  /** Tells the caller if it is time; returns how long until the next time. */
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
    const seconds = Math.round(this.#limitMs / 1000);
    const advice = this.#started
      ? `nothing came for ${seconds} s; try again, choose another model, or raise silenceMs of its entry in ` +
        `providers (config.jsonc)`
      : `no first word came for ${seconds} s; firstTokenMs of its entry in providers (config.jsonc) changes this limit`;
    // Asked again, a slow server would begin the same work once more.
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
