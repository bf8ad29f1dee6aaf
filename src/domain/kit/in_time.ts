import { ENDED } from "./ended.ts";
import type { Clock } from "./clock.ts";

/** Settles as the work does, or rejects with what `late` returns if the time is up first. The work itself continues. */
export async function inTime<T>(
  work: PromiseLike<T>,
  { ms, clock, late }: { readonly ms: number; readonly clock: Pick<Clock, "sleep">; readonly late: () => Error },
): Promise<T> {
  const over = new AbortController();
  const limit = clock.sleep(ms, over.signal).then((): never => {
    throw late();
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    over.abort(ENDED);
  }
}
