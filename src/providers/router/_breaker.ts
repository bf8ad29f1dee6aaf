import { ProviderError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/kit/concurrency.ts";
import type { Usage } from "../../domain/query/query_schemas.ts";

export class ProviderGuard {
  readonly #name: string;
  readonly #breaker: Breaker;
  readonly #window: RateWindow;
  readonly #clock: Clock;
  #notBefore = 0;
  /** Until the first response, the configured address may be wrong, so the router does not wait for the service. */
  reached = false;

  constructor(
    name: string,
    options: { readonly clock: Clock; readonly breaker: BreakerLimits; readonly limit: RateLimit | null },
  ) {
    this.#name = name;
    this.#clock = options.clock;
    this.#breaker = new Breaker(options.clock, options.breaker);
    this.#window = new RateWindow(options.clock, options.limit);
  }

  get open(): boolean {
    return this.#breaker.allows;
  }

  /** True also while the breaker is open, unless another call tries the service now, or the service named a later
   * time. */
  get triable(): boolean {
    return !this.#breaker.probing && this.#clock.now() >= this.#notBefore;
  }

  mayPass({ code, retryable, status }: ProviderError): boolean {
    if (!this.reached || !retryable) return false;
    // A success status without a reply is no outage.
    return code !== "server" || (status !== null && (status >= 500 || status === 408));
  }

  waitMs(tokens: number): number {
    return this.#window.waitMs(tokens);
  }

  /** The caller must end the attempt with `leave`. */
  enter(tokens: number): Ticket {
    this.#breaker.enter();
    return this.#window.take(tokens);
  }

  /** `outcome` is null if the caller cancelled or met a defect. `heard` means that a part of the reply has arrived. */
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
      this.#notBefore = this.#clock.now() + (outcome.retryAfterMs ?? 0);
      // A broken reply shows that the service worked until the break.
      if (heard) this.#breaker.left();
      else if (isFailure(outcome)) this.#breaker.failed();
      else this.#breaker.succeeded();
      return;
    }
    ticket.tokens = outcome.usage.input + outcome.usage.output || ticket.tokens;
    this.#breaker.succeeded();
  }

  refusal({ ends, alone }: { readonly ends: boolean; readonly alone: boolean }): ProviderError {
    const seconds = Math.max(1, Math.ceil(this.#breaker.waitMs / 1000));
    const others = alone ? ", and no other model is configured" : "";
    return new ProviderError(
      `Cannot get a reply from ${this.#name}: it failed several times in a row${others}; ${
        ends ? `wait ${seconds} s, then send the request again` : `Vis tries it again in ${seconds} s`
      }`,
      { code: "server", retryable: true, retryAfterMs: this.#breaker.waitMs },
    );
  }

  full(waitMs: number, { ends }: { readonly ends: boolean }): ProviderError {
    return new ProviderError(
      `Cannot call ${this.#name}: its rateLimit in config.jsonc allows the next call in ${Math.ceil(waitMs / 1000)} s${
        ends ? "; wait, raise rateLimit, or choose another model" : ""
      }`,
      { code: "rate", retryable: false, retryAfterMs: waitMs },
    );
  }
}

/** A service that refuses a key or a request works. */
function isFailure({ code, retryable }: ProviderError): boolean {
  return retryable && (code === "network" || code === "server" || code === "stall" || code === "rate");
}

interface BreakerLimits {
  readonly failures: number;
  readonly openMs: number;
}

/** The breaker opens after several consecutive failures, and closes after a successful call, such as a probe. The
 * caller ends each `enter` with `succeeded`, `failed` or `left`. */
export class Breaker {
  readonly #clock: Clock;
  readonly #limits: BreakerLimits;
  #failures = 0;
  #openUntil: number | null = null;
  #probing = false;

  constructor(clock: Clock, limits: BreakerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get allows(): boolean {
    if (this.#openUntil === null) return true;
    return !this.#probing && this.#clock.now() >= this.#openUntil;
  }

  get probing(): boolean {
    return this.#probing;
  }

  get waitMs(): number {
    return this.#openUntil === null ? 0 : Math.max(0, this.#openUntil - this.#clock.now());
  }

  enter(): void {
    if (this.#openUntil !== null) this.#probing = true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = null;
    this.#probing = false;
  }

  failed(): void {
    // If another call opened the breaker while this call ran, this failure does not extend the time.
    if (this.#openUntil !== null && !this.#probing) return;
    this.#failures++;
    if (this.#probing || this.#failures >= this.#limits.failures) {
      this.#openUntil = this.#clock.now() + this.#limits.openMs;
    }
    this.#probing = false;
  }

  left(): void {
    this.#probing = false;
  }
}

export interface RateLimit {
  readonly requests?: number | undefined;
  /** The limit covers the sum of input and output. */
  readonly tokens?: number | undefined;
  readonly perMs: number;
}

export interface Ticket {
  readonly at: number;
  tokens: number;
}

export class RateWindow {
  readonly #clock: Clock;
  readonly #limit: RateLimit | null;
  #tickets: Ticket[] = [];

  constructor(clock: Clock, limit: RateLimit | null) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** A call that is larger than the whole window fits while the window is empty. */
  waitMs(tokens: number): number {
    if (this.#limit === null) return 0;
    const { requests = Infinity, tokens: most = Infinity, perMs } = this.#limit;
    const now = this.#clock.now();
    this.#tickets = this.#tickets.filter(({ at }) => at + perMs > now);
    let count = this.#tickets.length;
    let sum = this.#tickets.reduce((total, ticket) => total + ticket.tokens, 0);
    if (count < requests && (sum + tokens <= most || sum === 0)) return 0;
    for (const { at, tokens: freed } of this.#tickets) {
      count--;
      sum -= freed;
      if (count < requests && (sum + tokens <= most || sum === 0)) return Math.max(1, at + perMs - now);
    }
    return 0;
  }

  take(tokens: number): Ticket {
    const ticket = { at: this.#clock.now(), tokens };
    if (this.#limit !== null) this.#tickets.push(ticket);
    return ticket;
  }
}
