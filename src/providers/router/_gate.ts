import { ProviderError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/kit/time.ts";
import type { Usage } from "../../domain/query/query_schemas.ts";
import { Breaker, type BreakerLimits } from "./_breaker.ts";
import { type RateLimit, RateWindow, type Ticket } from "./_rate_window.ts";

/** Guards one provider: a breaker and a rate window, shared by all its models. */
export class ProviderGuard {
  readonly #name: string;
  readonly #breaker: Breaker;
  readonly #window: RateWindow;
  /** False until the service has answered anything. Until then its address may be wrong, and waiting would be
   * useless. */
  reached = false;

  constructor(
    name: string,
    options: { readonly clock: Clock; readonly breaker: BreakerLimits; readonly limit: RateLimit | null },
  ) {
    this.#name = name;
    this.#breaker = new Breaker(options.clock, options.breaker);
    this.#window = new RateWindow(options.clock, options.limit);
  }

  /** False while no calls are sent to the provider, after failures. */
  get open(): boolean {
    return this.#breaker.allows;
  }

  /** Whether the service may recover, as after an outage or too many requests. */
  mayPass({ code, retryable, status }: ProviderError): boolean {
    if (!this.reached || !retryable) return false;
    // An answer with a success status that is not a reply is not an outage.
    return code !== "server" || (status !== null && (status >= 500 || status === 408));
  }

  /** Milliseconds until the rate window has room. */
  waitMs(tokens: number): number {
    return this.#window.waitMs(tokens);
  }

  /** Registers one attempt; it must end with `leave`. */
  enter(tokens: number): Ticket {
    this.#breaker.enter();
    return this.#window.take(tokens);
  }

  /** Records the result of the attempt: null if it was cancelled or hit a defect. `heard` is true if part of a
   * reply was received. */
  leave(
    ticket: Ticket,
    outcome: { readonly usage: Usage } | ProviderError | null,
    { heard }: { readonly heard: boolean },
  ): void {
    const answered = outcome instanceof ProviderError ? outcome.status !== null : outcome !== null;
    if (answered || heard) this.reached = true;
    if (outcome === null) return this.#breaker.left();
    if (outcome instanceof ProviderError) {
      ticket.tokens = 0;
      // If a reply breaks off, its service has worked so far.
      if (heard) this.#breaker.left();
      else if (isFailure(outcome)) this.#breaker.failed();
      else this.#breaker.succeeded();
      return;
    }
    ticket.tokens = outcome.usage.input + outcome.usage.output || ticket.tokens;
    this.#breaker.succeeded();
  }

  /** The error if no call was made. */
  refusal(): ProviderError {
    const seconds = Math.max(1, Math.ceil(this.#breaker.waitMs / 1000));
    return new ProviderError(
      `Cannot get a reply from ${this.#name}: it failed several times in a row; it is tried again in ${seconds} s`,
      { code: "server", retryable: true, retryAfterMs: this.#breaker.waitMs },
    );
  }

  /** The error if no call was made because the rate window stays full for too long. */
  full(waitMs: number): ProviderError {
    return new ProviderError(
      `Cannot ask ${this.#name}: the configured rate limit leaves no room for ${Math.ceil(waitMs / 1000)} s`,
      { code: "rate", retryable: false, retryAfterMs: waitMs },
    );
  }
}

/** Whether the service itself fails; one that refuses a key or a request is working. */
function isFailure({ code, retryable }: ProviderError): boolean {
  return retryable && (code === "network" || code === "server" || code === "stall" || code === "rate");
}
