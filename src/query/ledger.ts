import { Cancelled, HostCallError, ProviderError } from "../domain/errors.ts";
import { addUsage, NO_USAGE } from "../domain/query/model_call.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import type { Usage } from "../domain/query/query_schemas.ts";
import { type Price, ratesFor } from "../providers/provider.ts";
import { needsPrice, type QueryLimits } from "./query_parts.ts";

/** The expected consumption of a call, before it is made. */
export interface Expected {
  readonly inputTokens: number;
  readonly price: Price | null;
}

export interface Spend {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** A call under way. Settle it exactly once, however it ends. */
export interface Reservation {
  settle(spent: Spend): void;
}

interface Held {
  readonly tokens: number;
  readonly costUsd: number;
}

const NOTHING: Spend = { usage: NO_USAGE, costUsd: 0 };

/** State shared by all queries of one tree. */
class Tree {
  readonly limits: QueryLimits;
  readonly elapsed: () => number;
  readonly #held = new Set<Held>();
  readonly #waiting = new Set<() => void>();
  subcalls = 0;
  usage: Usage = NO_USAGE;
  /** Of the calls whose price is known. */
  costUsd = 0;

  constructor(limits: QueryLimits, elapsed: () => number) {
    this.limits = limits;
    this.elapsed = elapsed;
  }

  reached(): LimitReason | null {
    return limitReached(this.limits, { usage: this.usage, costUsd: this.costUsd, ms: this.elapsed() });
  }

  /** Null if it may exceed what is left after the calls under way. A call is always allowed when it is the only one. */
  hold({ inputTokens, price }: Expected): Held | null {
    const { usage, costUsd } = this;
    const calls = Math.max(1, usage.calls);
    const output = usage.output / calls;
    const rates = price && ratesFor(price, inputTokens);
    const cost = rates ? (inputTokens * rates.input + output * rates.output) / 1e6 : 0;
    // The characters of a prompt are a poor measure of its tokens, so at least the average of past calls is expected.
    const held: Held = {
      tokens: Math.max(inputTokens + output, (usage.input + usage.output) / calls),
      costUsd: Math.max(cost, costUsd / calls),
    };
    if (this.#held.size > 0 && (this.#unknown() || !this.#fits(held))) return null;
    this.#held.add(held);
    return held;
  }

  release(held: Held): void {
    this.#held.delete(held);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves when a call under way has ended. */
  async released(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    await promise;
    signal.removeEventListener("abort", wake);
    this.#waiting.delete(wake);
  }

  /** Until the first call has ended, consumption per call is unknown; with a limit, the others wait for it. */
  #unknown(): boolean {
    const { tokens, costUsd } = this.limits;
    return this.usage.calls === 0 && (tokens !== null || costUsd !== null);
  }

  #fits(held: Held): boolean {
    const { tokens, costUsd } = this.limits;
    let heldTokens = held.tokens, heldCost = held.costUsd;
    for (const other of this.#held) {
      heldTokens += other.tokens;
      heldCost += other.costUsd;
    }
    const { usage } = this;
    if (tokens !== null && usage.input + usage.output + heldTokens > tokens) return false;
    return costUsd === null || this.costUsd + heldCost <= costUsd;
  }
}

/** What one query and everything below it has spent, against the limits of the whole tree. Each call is reserved before
 * it is made and settled after it, so that parallel children cannot each spend the same remainder. */
export class Ledger {
  readonly #tree: Tree;
  readonly #parent: Ledger | null;
  #spent: Spend = NOTHING;

  protected constructor(tree: Tree, parent: Ledger | null) {
    this.#tree = tree;
    this.#parent = parent;
  }

  /** Opens the ledger of a tree's root; `elapsed` returns milliseconds since it began. */
  static open(limits: QueryLimits, elapsed: () => number): Ledger {
    return new Ledger(new Tree(limits, elapsed), null);
  }

  /** The ledger of a query below this one. */
  child(): Ledger {
    return new Ledger(this.#tree, this);
  }

  /** What this query and all below it have spent. The cost is null once a call with an unknown price was made. */
  get spent(): Spend {
    return this.#spent;
  }

  /** Whether the limits of the tree require a known price of every call. */
  get priced(): boolean {
    return needsPrice(this.#tree.limits);
  }

  /** The limit of the tree that was reached, or null. */
  reached(): LimitReason | null {
    return this.#tree.reached();
  }

  /** Counts a sub-call or a child query. Throws `HostCallError` when the tree has reached its limit. */
  countSubcall(symbol: string): void {
    const limit = this.#tree.limits.subcalls ?? null;
    if (limit !== null && this.#tree.subcalls >= limit) {
      throw new HostCallError(`Cannot call a model again: the limit of ${limit} sub-calls is reached`, {
        namespace: "vis",
        symbol,
        hint: "answer from what you have",
      });
    }
    this.#tree.subcalls++;
  }

  /** Waits while the calls under way may use up what is left. Rejects with `ProviderError` when a limit is reached, and
   * with `Cancelled`. */
  async reserve(expected: Expected, signal: AbortSignal): Promise<Reservation> {
    for (;;) {
      if (signal.aborted) throw new Cancelled("Query cancelled");
      const limit = this.reached();
      if (limit) {
        throw new ProviderError(`Cannot call the model: ${WORDS[limit]} of the whole query is reached`, {
          code: "refused",
          retryable: false,
        });
      }
      const held = this.#tree.hold(expected);
      if (held) return this.#reservation(held);
      await this.#tree.released(signal);
    }
  }

  /** Counts sub-calls and child queries that another process made for the same query. */
  countEarlier(subcalls: number): void {
    this.#tree.subcalls += subcalls;
  }

  /** Counts a call without a reservation. */
  count(spent: Spend): void {
    this.#tree.usage = addUsage(this.#tree.usage, spent.usage);
    this.#tree.costUsd += spent.costUsd ?? 0;
    this.#add(spent);
  }

  #reservation(held: Held): Reservation {
    let open = true;
    return {
      settle: (spent) => {
        if (!open) return;
        open = false;
        this.count(spent);
        this.#tree.release(held);
      },
    };
  }

  #add(spent: Spend): void {
    this.#spent = sum(this.#spent, spent);
    if (this.#parent) this.#parent.#add(spent);
  }
}

const WORDS: Readonly<Record<LimitReason, string>> = {
  limit_cost: "the cost limit",
  limit_tokens: "the token limit",
  limit_time: "the time limit",
};

function sum(a: Spend, b: Spend): Spend {
  const unpriced = a.costUsd === null || (b.costUsd === null && b.usage.calls > 0);
  return {
    usage: addUsage(a.usage, b.usage),
    costUsd: unpriced ? null : (a.costUsd ?? 0) + (b.costUsd ?? 0),
  };
}

export type LimitReason = Extract<QueryReason, `limit_${string}`>;

/** The limit that prevents another model call, or null. */
function limitReached(
  limits: QueryLimits,
  spent: { readonly usage: Usage; readonly costUsd: number; readonly ms: number },
): LimitReason | null {
  if (limits.wallMs !== null && spent.ms >= limits.wallMs) return "limit_time";
  if (limits.tokens !== null && spent.usage.input + spent.usage.output >= limits.tokens) return "limit_tokens";
  if (limits.costUsd !== null && spent.costUsd >= limits.costUsd) return "limit_cost";
  return null;
}
