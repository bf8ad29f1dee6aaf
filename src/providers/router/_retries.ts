import type { ProviderError } from "../../domain/errors.ts";
import { backoffMs, type Clock } from "../../domain/kit/time.ts";

const QUICK = { firstMs: 500, mostMs: 30_000 };
/** If a service asks for a longer wait, the next route is tried first. */
const LONGEST_QUICK_MS = 60_000;
const PATIENT = { firstMs: 2_000, mostMs: 30_000 };

/** The pauses of one request: short ones between attempts at one route, and longer ones after all routes have failed
 * with temporary errors, as long as patience lasts. */
export class Retries {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #patienceMs: number;
  #since: number | null = null;
  #rounds = 0;

  constructor(facts: { readonly clock: Clock; readonly random: () => number; readonly patienceMs: number }) {
    this.#clock = facts.clock;
    this.#random = facts.random;
    this.#patienceMs = facts.patienceMs;
  }

  /** Milliseconds until the same route is called again after its `attempt`; null if it should not be. */
  quickMs(error: ProviderError, attempt: number): number | null {
    if (!error.retryable || (error.retryAfterMs ?? 0) > LONGEST_QUICK_MS) return null;
    return waitMs(error, backoffMs(attempt, { ...QUICK, random: this.#random }));
  }

  /** Milliseconds until the routes that failed with these errors are called again; null if there are none or patience
   * has run out. */
  patientMs(failures: readonly ProviderError[]): number | null {
    if (failures.length === 0) return null;
    const now = this.#clock.now();
    this.#since ??= now;
    const own = backoffMs(++this.#rounds, { ...PATIENT, random: this.#random });
    const soonest = Math.min(...failures.map((error) => waitMs(error, own)));
    return now + soonest - this.#since > this.#patienceMs ? null : soonest;
  }
}

/** The wait that the service asks for, else our own. Many clients receive the same time, so random jitter is added to
 * it. */
function waitMs({ retryAfterMs }: ProviderError, own: number): number {
  return retryAfterMs ? retryAfterMs + own * 0.2 : own;
}
