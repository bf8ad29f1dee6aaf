import { REAL_CLOCK } from "../../domain/kit/clock.ts";
import { ENDED } from "../../domain/kit/ended.ts";

/** What a notification missed is found after this. */
const LOOK_MS = 1_000;

/** Wakes those who wait for news of a query. */
export class Bell {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  /** Resolves at the next ring. Ask for it before looking, so that nothing is missed in between. */
  next(queryId: string): Promise<void> {
    let waiting = this.#waiting.get(queryId);
    if (!waiting) this.#waiting.set(queryId, waiting = Promise.withResolvers());
    return waiting.promise;
  }

  ring(queryId: string): void {
    this.#waiting.get(queryId)?.resolve();
    this.#waiting.delete(queryId);
  }

  ringAll(): void {
    for (const queryId of [...this.#waiting.keys()]) this.ring(queryId);
  }
}

/** Waits for a ring until one should look without it, and until the signal aborts. */
export async function ringOrLook(ring: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const timer = REAL_CLOCK.sleep(LOOK_MS, AbortSignal.any([over.signal, signal])).catch(() => {});
  await Promise.race([ring, timer]);
  over.abort(ENDED);
}
