import type { Clock } from "../../domain/kit/clock.ts";

export interface BreakerLimits {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open before one call may try. */
  readonly openMs: number;
}

/** Keeps calls away from a service that fails: open after some failures in a row, then half open for one call, whose
 * success closes it. Whoever `enter`s must end with one of `succeeded`, `failed` and `left`. */
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

  /** True where a call may go out now. */
  get allows(): boolean {
    if (this.#openUntil === null) return true;
    return !this.#probing && this.#clock.now() >= this.#openUntil;
  }

  /** Milliseconds until the next call may try, 0 where one may now or one is trying. */
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
    // A call that was on its way when others opened it does not keep it open for longer.
    if (this.#openUntil !== null && !this.#probing) return;
    this.#failures++;
    if (this.#probing || this.#failures >= this.#limits.failures) {
      this.#openUntil = this.#clock.now() + this.#limits.openMs;
    }
    this.#probing = false;
  }

  /** The call ended without saying anything about the service. */
  left(): void {
    this.#probing = false;
  }
}
