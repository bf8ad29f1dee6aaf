import { BoundedMap } from "../../../domain/kit/bounded_map.ts";
import { Problem } from "../response/problem.ts";

/** Of more keys, those that were used longest ago are forgotten: their buckets are full, or the fullest. */
const KEPT_BUCKETS = 10_000;

export interface Rate {
  readonly perMinute: number;
  /** Requests allowed at once. */
  readonly burst: number;
}

/** A token bucket for each key, such as an address. */
export class RateLimiter {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new BoundedMap<string, { readonly left: number; readonly at: number }>(KEPT_BUCKETS);

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Takes one token from the bucket. Throws `Problem` (429) with the seconds to wait if it is empty. */
  take(key: string, what: string): void {
    const { perMinute, burst } = this.#rate;
    const now = this.#now();
    const { left, at } = this.#buckets.get(key) ?? { left: burst, at: now };
    const filled = Math.min(burst, left + (Math.max(0, now - at) * perMinute) / 60_000);
    const isEmpty = filled < 1;
    this.#buckets.set(key, { left: isEmpty ? filled : filled - 1, at: now });
    if (!isEmpty) return;
    const seconds = Math.max(1, Math.ceil(((1 - filled) * 60) / perMinute));
    throw new Problem(`Cannot serve more requests of this ${what}: the limit is ${perMinute} per minute`, {
      kind: "rate-limited",
      headers: { "retry-after": String(seconds) },
    });
  }
}
