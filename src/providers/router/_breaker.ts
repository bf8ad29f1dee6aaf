import type { Clock } from "../../domain/kit/time.ts";

export interface BreakerLimits {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** How long it stays open before one call may probe the service. */
  readonly openMs: number;
}

/** Keeps calls away from a failing service: open after several consecutive failures, then half open for one call, whose
 * success closes it. Every `enter` must be followed by one of `succeeded`, `failed` and `left`. */
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

  /** True if a call may be sent now. */
  get allows(): boolean {
    if (this.#openUntil === null) return true;
    return !this.#probing && this.#clock.now() >= this.#openUntil;
  }

  /** Milliseconds until the next call may probe; 0 if one may be sent now or one is probing. */
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
    // A call that was already under way when others opened the breaker does not extend the time.
    if (this.#openUntil !== null && !this.#probing) return;
    this.#failures++;
    if (this.#probing || this.#failures >= this.#limits.failures) {
      this.#openUntil = this.#clock.now() + this.#limits.openMs;
    }
    this.#probing = false;
  }

  /** The call ended without information about the service. */
  left(): void {
    this.#probing = false;
  }
}
