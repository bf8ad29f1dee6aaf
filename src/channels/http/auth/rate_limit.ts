import { BoundedMap } from "../../../domain/kit/bounded_map.ts";
import { Problem } from "../response/problem.ts";

/** Of more keys, those that were used longest ago are forgotten: their buckets are full, or the fullest. */
const KEPT_BUCKETS = 10_000;

export interface Rate {
  readonly perMinute: number;
  /** Requests allowed at once. */
  readonly burst: number;
}

/** Token buckets by key; `what` says of what, such as an address. The function takes one token from the bucket of a key;
 * it throws `Problem` (429) with the seconds to wait if that is empty. */
export function rateLimiter(
  { perMinute, burst }: Rate,
  { what, now }: { readonly what: string; readonly now: () => number },
): (key: string) => void {
  const buckets = new BoundedMap<string, { readonly left: number; readonly at: number }>(KEPT_BUCKETS);
  return (key) => {
    const at = now();
    const bucket = buckets.get(key) ?? { left: burst, at };
    const filled = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) * perMinute) / 60_000);
    const isEmpty = filled < 1;
    buckets.set(key, { left: isEmpty ? filled : filled - 1, at });
    if (!isEmpty) return;
    const seconds = Math.max(1, Math.ceil(((1 - filled) * 60) / perMinute));
    throw new Problem(`Cannot serve more requests of this ${what}: the limit is ${perMinute} per minute`, {
      kind: "rate-limited",
      headers: { "retry-after": String(seconds) },
    });
  };
}
