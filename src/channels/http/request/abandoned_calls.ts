import { BoundedMap } from "../../../domain/kit/bounded_map.ts";
import { Problem } from "../response/problem.ts";

const KEPT_MS = 3_600_000;
const KEPT_CALLS = 1000;

/** Calls whose client stopped waiting, so that their query was cancelled. OpenAI's clients repeat such a call on their
 * own, which would run the same request once more each time. */
export class AbandonedCalls {
  readonly #at = new BoundedMap<string, number>(KEPT_CALLS);

  /** `call` identifies the caller and what it requests. */
  add(call: string): void {
    this.#at.set(call, performance.now());
  }

  /** Throws `Problem` if such a call is made again. */
  refuse(call: string): void {
    const at = this.#at.get(call);
    if (at === undefined || at < performance.now() - KEPT_MS) return;
    throw new Problem(
      "Cannot repeat the request: your client stopped waiting for it, and it was cancelled. Give the client a longer " +
        "timeout, or send an Idempotency-Key: then the request continues, and repeating it returns the answer",
      { kind: "conflict" },
    );
  }
}
