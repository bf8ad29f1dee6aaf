import { createHash } from "node:crypto";
import type { Conversation } from "../../conversation/conversations.ts";
import { BusyError } from "../../domain/errors.ts";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { clip } from "../../domain/kit/text.ts";
import type { RequestKey } from "../../domain/query/stored_query.ts";
import { Problem } from "./problem.ts";

const MAX_KEY = 255;
const KEPT_MS = 24 * 3_600_000;
const KEPT_KEYS = 10_000;

export type StartedQuery = { readonly queryId: string } | null;

interface Known {
  readonly fingerprint: string;
  readonly sent: StartedQuery;
}

export interface OnceOptions {
  readonly conversation: Pick<Conversation, "branchId" | "conversationId">;
  readonly what: string;
  readonly body: string;
  readonly stored: (key: string) => Promise<{ readonly queryId: string; readonly fingerprint: string } | null>;
  readonly work: (key: RequestKey | undefined) => Promise<StartedQuery>;
  /** Resolves with the query that the key means from now on. Without `resume`, a repeated request gets the first
   * query. */
  readonly resume?: ((sent: StartedQuery, key: RequestKey) => Promise<StartedQuery>) | undefined;
}

export class Idempotency {
  readonly #kept = new BoundedMap<string, Known & { readonly at: number }>(KEPT_KEYS);
  readonly #pending = new Map<string, Promise<Known>>();
  readonly #now: () => number;

  /** `now` must be monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Vis keeps no failures, so that clients can retry. */
  async once(given: string | null, options: OnceOptions): Promise<StartedQuery> {
    if (given === null) return await options.work(undefined);
    if (given.length > MAX_KEY || !/^[\x20-\x7e]+$/.test(given)) {
      const why = given.length > MAX_KEY
        ? `it has ${given.length} characters, more than the limit of ${MAX_KEY}; send a shorter key`
        : given === ""
        ? `it is empty; send 1 to ${MAX_KEY} characters`
        : "it has characters that are not printable ASCII; send only printable ASCII";
      throw new Problem(`Cannot use Idempotency-Key ${JSON.stringify(clip(given, 80))}: ${why}`, {
        kind: "bad-request",
      });
    }
    const { conversation: { branchId, conversationId }, what, body } = options;
    const key = { branchId, key: `${what} ${given}`, fingerprint: createHash("sha256").update(body).digest("hex") };
    const name = `${conversationId} ${key.key}`;
    for (let pending = this.#pending.get(name); pending; pending = this.#pending.get(name)) {
      const { sent } = sameBody(await pending, key, given);
      if (!options.resume) return sent;
    }
    const begun = this.#begin(name, key, options);
    this.#pending.set(name, begun);
    const { sent } = await begun.finally(() => this.#pending.delete(name));
    this.#kept.set(name, { fingerprint: key.fingerprint, sent, at: this.#now() });
    return sent;
  }

  async #begin(name: string, key: RequestKey, options: OnceOptions): Promise<Known> {
    const { work, resume } = options;
    const { fingerprint } = key;
    const known = await this.#known(name, key, options);
    try {
      if (known) return { fingerprint, sent: resume ? await resume(known.sent, key) : known.sent };
      return { fingerprint, sent: await work(key) };
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      const now = await this.#known(name, key, options);
      if (!now || now.sent?.queryId === known?.sent?.queryId) throw error;
      return now;
    }
  }

  async #known(name: string, key: RequestKey, { stored, what }: OnceOptions): Promise<Known | null> {
    const given = key.key.slice(what.length + 1);
    const found = await stored(key.key);
    if (found) return sameBody({ fingerprint: found.fingerprint, sent: { queryId: found.queryId } }, key, given);
    const kept = this.#kept.get(name);
    return kept && kept.at > this.#now() - KEPT_MS ? sameBody(kept, key, given) : null;
  }
}

function sameBody(known: Known, { fingerprint }: RequestKey, given: string): Known {
  if (known.fingerprint === fingerprint) return known;
  const why = "an earlier request with this key had another body; send a new key";
  throw new Problem(`Cannot use Idempotency-Key ${JSON.stringify(clip(given, 80))}: ${why}`, { kind: "key-reused" });
}

const ABANDONED_MS = 3_600_000;
const ABANDONED_CALLS = 1000;

/** After their timeout, clients of OpenAI repeat a call by themselves, which would run the cancelled query again. */
export class AbandonedCalls {
  readonly #at = new BoundedMap<string, number>(ABANDONED_CALLS);

  add(call: string): void {
    this.#at.set(call, performance.now());
  }

  refuse(call: string): void {
    const at = this.#at.get(call);
    if (at === undefined || at < performance.now() - ABANDONED_MS) return;
    throw new Problem(
      "Cannot repeat the request: Vis cancelled it when your client stopped waiting; raise the client's timeout, " +
        "or send an Idempotency-Key",
      { kind: "conflict" },
    );
  }
}
