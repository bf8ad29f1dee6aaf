import { backoffMs } from "../../domain/kit/backoff_ms.ts";
import type { ProviderError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/kit/clock.ts";

const QUICK = { firstMs: 500, mostMs: 30_000 };
/** Longer waits that a service asks for let the next route serve first. */
const LONGEST_QUICK_MS = 60_000;
const PATIENT = { firstMs: 2_000, mostMs: 30_000 };

/** The pauses of one request: short ones between the attempts at one route, and longer ones after all routes have failed
 * with what may pass, as long as patience lasts. */
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

  /** Milliseconds until the same route is asked again after its `attempt`; null where it should not be. */
  quickMs(error: ProviderError, attempt: number): number | null {
    if (!error.retryable || (error.retryAfterMs ?? 0) > LONGEST_QUICK_MS) return null;
    return waitMs(error, backoffMs(attempt, { ...QUICK, random: this.#random }));
  }

  /** Milliseconds until the routes that failed with these are asked again; null where there is none, or patience is at its
   * end. */
  patientMs(failures: readonly ProviderError[]): number | null {
    if (failures.length === 0) return null;
    const now = this.#clock.now();
    this.#since ??= now;
    const own = backoffMs(++this.#rounds, { ...PATIENT, random: this.#random });
    const soonest = Math.min(...failures.map((error) => waitMs(error, own)));
    return now + soonest - this.#since > this.#patienceMs ? null : soonest;
  }
}

/** What the service asks for, else one's own. Many clients get the same moment: chance spreads them after it. */
function waitMs({ retryAfterMs }: ProviderError, own: number): number {
  return retryAfterMs ? retryAfterMs + own * 0.2 : own;
}
