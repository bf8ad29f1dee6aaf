import { createHash } from "node:crypto";
import type { Conversation } from "../../conversation/conversations.ts";
import type { RequestKey } from "../../domain/request_key.ts";
import { Problem } from "./problem.ts";

const KEPT_MS = 24 * 3_600_000;
const KEPT_KEYS = 10_000;

interface Kept<T> {
  readonly fingerprint: string;
  readonly at: number;
  readonly outcome: Promise<T>;
}

export interface OnceOptions<T> {
  /** That the request names. */
  readonly conversation: Pick<Conversation, "branchId" | "conversationId">;
  /** What is asked of it. */
  readonly what: string;
  readonly body: string;
  /** What a key began before this process. */
  readonly stored: (key: string) => Promise<{ readonly outcome: T; readonly fingerprint: string } | null>;
  /** Stores the key, where there is one, together with what it begins. */
  readonly work: (key: RequestKey | undefined) => Promise<T>;
}

/** What requests with an idempotency key came to: those of this process for a day, in memory, for clients at the same
 * time and for what is not stored; those of earlier ones from where `stored` finds them. */
export class Idempotency<T> {
  readonly #kept = new Map<string, Kept<T>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Does the work once for a key (all of it where the key is null). What failed is forgotten, so that it can be tried
   * again. Throws `Problem` for a key that came with another body, and for one that is none. */
  async once(given: string | null, options: OnceOptions<T>): Promise<T> {
    if (given === null) return await options.work(undefined);
    if (!/^[\x20-\x7e]{1,255}$/.test(given)) {
      throw new Problem("Cannot use Idempotency-Key: it must have 1 to 255 visible characters", {
        kind: "bad-request",
      });
    }
    this.#forget();
    const { conversation: { branchId, conversationId }, what, body } = options;
    const key = { branchId, key: `${what} ${given}`, fingerprint: createHash("sha256").update(body).digest("hex") };
    const name = `${conversationId} ${key.key}`;
    const known = this.#kept.get(name);
    if (known) return await sameBody(known, key).outcome;
    const outcome = this.#begin(key, options);
    this.#kept.set(name, { fingerprint: key.fingerprint, at: this.#now(), outcome });
    outcome.catch(() => this.#kept.delete(name));
    return await outcome;
  }

  async #begin(key: RequestKey, { stored, work }: OnceOptions<T>): Promise<T> {
    const before = await stored(key.key);
    return before ? sameBody(before, key).outcome : await work(key);
  }

  #forget(): void {
    for (const [name, { at }] of this.#kept) {
      if (this.#kept.size < KEPT_KEYS && at > this.#now() - KEPT_MS) return;
      this.#kept.delete(name);
    }
  }
}

function sameBody<K extends { readonly fingerprint: string }>(known: K, { fingerprint }: RequestKey): K {
  if (known.fingerprint === fingerprint) return known;
  throw new Problem("Cannot use Idempotency-Key: another body came with it before", { kind: "key-reused" });
}
