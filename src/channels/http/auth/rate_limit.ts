import { Problem } from "../response/problem.ts";

/** Full buckets are dropped once there are more than this. */
const KEPT_BUCKETS = 10_000;

export interface Rate {
  readonly perMinute: number;
  /** Requests allowed at once. */
  readonly burst: number;
}

interface Bucket {
  left: number;
  at: number;
}

/** A token bucket for each key, such as an address. */
export class RateLimiter {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Takes one token from the bucket. Throws `Problem` (429) with the seconds to wait if it is empty. */
  take(key: string, what: string): void {
    const bucket = this.#filled(key);
    if (bucket.left >= 1) {
      bucket.left--;
      return;
    }
    const seconds = Math.max(1, Math.ceil(((1 - bucket.left) * 60) / this.#rate.perMinute));
    throw new Problem(`Cannot serve more requests of this ${what}: the limit is ${this.#rate.perMinute} per minute`, {
      kind: "rate-limited",
      headers: { "retry-after": String(seconds) },
    });
  }

  #filled(key: string): Bucket {
    const now = this.#now();
    const known = this.#buckets.get(key);
    const bucket = known ?? { left: this.#rate.burst, at: now };
    bucket.left = Math.min(
      this.#rate.burst,
      bucket.left + (Math.max(0, now - bucket.at) * this.#rate.perMinute) / 60_000,
    );
    bucket.at = now;
    if (!known) {
      if (this.#buckets.size >= KEPT_BUCKETS) this.#forget(now);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  /** Drops full buckets, then the oldest ones, so that the list stays bounded. */
  #forget(now: number): void {
    const { burst, perMinute } = this.#rate;
    for (const [key, { left, at }] of this.#buckets) {
      if (left + ((now - at) * perMinute) / 60_000 >= burst) this.#buckets.delete(key);
    }
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size < KEPT_BUCKETS) return;
      this.#buckets.delete(key);
    }
  }
}
