import { createHash } from "node:crypto";
import { Problem } from "./problem.ts";

const KEPT_MS = 24 * 3_600_000;
const KEPT_KEYS = 10_000;

interface Kept<T> {
  readonly fingerprint: string;
  readonly at: number;
  readonly outcome: Promise<T>;
}

/** What requests with an idempotency key came to, for a day and as long as the process lives. */
export class Idempotency<T> {
  readonly #kept = new Map<string, Kept<T>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Does the work once for a key (all of it where the key is null). What failed is forgotten, so that it can be tried
   * again. Throws `Problem` for a key that came with another body, and for one that is none. */
  async once(
    key: string | null,
    { scope, body, work }: { readonly scope: string; readonly body: string; readonly work: () => Promise<T> },
  ): Promise<T> {
    if (key === null) return await work();
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
      throw new Problem("Cannot use Idempotency-Key: it must have 1 to 255 visible characters", {
        kind: "bad-request",
      });
    }
    this.#forget();
    const fingerprint = createHash("sha256").update(body).digest("hex");
    const name = `${scope} ${key}`;
    const known = this.#kept.get(name);
    if (known && known.fingerprint !== fingerprint) {
      throw new Problem("Cannot use Idempotency-Key: another body came with it before", { kind: "key-reused" });
    }
    if (known) return await known.outcome;
    const outcome = work();
    this.#kept.set(name, { fingerprint, at: this.#now(), outcome });
    outcome.catch(() => this.#kept.delete(name));
    return await outcome;
  }

  #forget(): void {
    for (const [name, { at }] of this.#kept) {
      if (this.#kept.size < KEPT_KEYS && at > this.#now() - KEPT_MS) return;
      this.#kept.delete(name);
    }
  }
}
