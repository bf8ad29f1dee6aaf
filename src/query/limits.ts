import { Cancelled, HostCallError, ProviderError } from "../domain/errors.ts";
import { Semaphore } from "../domain/kit/concurrency.ts";
import { dollarText } from "../domain/kit/text.ts";
import { addSpend, addUsage, NO_USAGE, NOTHING_SPENT, type Spend, spentOn } from "../domain/query/model_call.ts";
import type { QueryReason } from "../domain/query/outcomes.ts";
import type { Usage } from "../domain/query/query_schemas.ts";
import { type Price, ratesFor } from "../providers/provider.ts";
import type { Router, RouterCallOptions, RouterReply, RouterRequest } from "../providers/router/router.ts";
import type { ModelRoute } from "../providers/router/routes.ts";
import { chosenRoute, isPreference, type ModelCalls, needsPrice, type QueryLimits } from "./query_settings.ts";

type LimitReason = Extract<QueryReason, `limit_${string}`>;

interface Expected {
  readonly inputTokens: number;
  readonly price: Price | null;
}

/** The owner settles the reservation once, however the model call ends. */
interface Reservation {
  settle(spent: Spend): void;
}

/** Vis reserves the expected amount before a call, so parallel sub-queries cannot each spend the same remainder. */
export class Ledger {
  readonly #tree: Tree;
  readonly #parent: Ledger | null;
  #spent: Spend = NOTHING_SPENT;

  protected constructor(tree: Tree, parent: Ledger | null) {
    this.#tree = tree;
    this.#parent = parent;
  }

  static open(limits: QueryLimits, elapsed: () => number): Ledger {
    return new Ledger(new Tree(limits, elapsed), null);
  }

  child(): Ledger {
    return new Ledger(this.#tree, this);
  }

  /** Includes sub-queries. The cost is null after a call with an unknown price. */
  get spent(): Spend {
    return this.#spent;
  }

  get priced(): boolean {
    return needsPrice(this.#tree.limits);
  }

  reached(): LimitReason | null {
    return this.#tree.reached();
  }

  limitText(limit: LimitReason): string {
    return this.#tree.textOf(limit);
  }

  check(): void {
    const limit = this.reached();
    if (limit === null) return;
    throw new ProviderError(`Cannot call the model: the request has reached ${this.#tree.textOf(limit)}`, {
      code: "refused",
      retryable: false,
    });
  }

  countSubcall(symbol: string): void {
    const limit = this.#tree.limits.subcalls ?? null;
    if (limit !== null && this.#tree.subcalls >= limit) {
      throw new HostCallError(
        `Cannot start another sub-call or sub-query: the request has reached its limit of ${limit} for both together`,
        {
          namespace: "vis",
          symbol,
          hint: "answer from the results so far",
        },
      );
    }
    this.#tree.subcalls++;
  }

  /** Waits while running calls may use up the rest of a limit. Rejects with `ProviderError` when a limit is reached,
   * and with `Cancelled`. */
  async reserve(expected: Expected, signal: AbortSignal): Promise<Reservation> {
    for (;;) {
      if (signal.aborted) throw new Cancelled("Request cancelled");
      this.check();
      const held = this.#tree.hold(expected);
      if (held) return this.#reservation(held);
      await this.#tree.released(signal);
    }
  }

  countEarlier(subcalls: number): void {
    this.#tree.subcalls += subcalls;
  }

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
    this.#spent = addSpend(this.#spent, spent);
    if (this.#parent) this.#parent.#add(spent);
  }
}

interface Held {
  readonly tokens: number;
  readonly costUsd: number;
}

class Tree {
  readonly limits: QueryLimits;
  readonly elapsed: () => number;
  readonly #held = new Set<Held>();
  readonly #waiting = new Set<() => void>();
  subcalls = 0;
  usage: Usage = NO_USAGE;
  costUsd = 0;

  constructor(limits: QueryLimits, elapsed: () => number) {
    this.limits = limits;
    this.elapsed = elapsed;
  }

  reached(): LimitReason | null {
    return limitReached(this.limits, { usage: this.usage, costUsd: this.costUsd, ms: this.elapsed() });
  }

  textOf(limit: LimitReason): string {
    const { costUsd, tokens, wallMs } = this.limits;
    if (limit === "limit_time") return `its time limit of ${(wallMs ?? 0) / 1000} s`;
    if (limit === "limit_tokens") return `its limit of ${tokens} tokens (${this.usage.input + this.usage.output} used)`;
    return `its cost limit of ${dollarText(costUsd ?? 0)} (${dollarText(Number(this.costUsd.toPrecision(3)))} spent)`;
  }

  /** Returns null if this call and other running calls together may exceed a limit. A call that runs alone always gets
   * a place. */
  hold({ inputTokens, price }: Expected): Held | null {
    const { usage, costUsd } = this;
    const calls = Math.max(1, usage.calls);
    const output = usage.output / calls;
    const rates = price && ratesFor(price, inputTokens);
    const cost = rates ? (inputTokens * rates.input + output * rates.output) / 1e6 : 0;
    // The characters of a prompt predict its tokens poorly, so the reservation has at least the average of past calls.
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

  async released(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    await promise;
    signal.removeEventListener("abort", wake);
    this.#waiting.delete(wake);
  }

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

function limitReached(
  limits: QueryLimits,
  spent: { readonly usage: Usage; readonly costUsd: number; readonly ms: number },
): LimitReason | null {
  if (limits.wallMs !== null && spent.ms >= limits.wallMs) return "limit_time";
  if (limits.tokens !== null && spent.usage.input + spent.usage.output >= limits.tokens) return "limit_tokens";
  if (limits.costUsd !== null && spent.costUsd >= limits.costUsd) return "limit_cost";
  return null;
}

const CHARS_PER_TOKEN = 4;
/** A call that holds a place waits only for its reply, so nested queries cannot deadlock. */
const AT_ONCE = 8;
const CALLS = new Semaphore(AT_ONCE);

/** A query of the user has no gate: it makes one call at a time, and must not wait for other conversations. */
export class LedgerCalls implements ModelCalls {
  readonly #router: ModelCalls;
  readonly #ledger: Ledger;
  readonly #gate: Semaphore | null;
  readonly #model: string | null;

  constructor(
    router: ModelCalls,
    options: { readonly ledger: Ledger; readonly model?: string | null; readonly gate?: Semaphore | null },
  ) {
    this.#router = router;
    this.#ledger = options.ledger;
    this.#gate = options.gate === undefined ? CALLS : options.gate;
    this.#model = options.model ?? null;
  }

  get routes(): readonly ModelRoute[] {
    return this.#router.routes;
  }

  current(): ReturnType<Router["current"]> {
    return chosenRoute(this.#router, this.#model);
  }

  /** The ledger counts failed attempts. */
  async ask(request: RouterRequest, options: RouterCallOptions): Promise<RouterReply> {
    const chars = request.messages.reduce((sum, { text }) => sum + text.length, 0);
    const inputTokens = Math.ceil(chars / CHARS_PER_TOKEN);
    const { price } = this.current().capabilities;
    // The ledger comes before the gate, so that a call that waits for the ledger holds no place in the gate.
    const reservation = await this.#ledger.reserve({ inputTokens, price }, options.signal);
    let spent = NOTHING_SPENT;
    const watched: RouterCallOptions = {
      ...options,
      onAttempt: (trace) => {
        if (trace.ok) spent = spentOn([trace]);
        else this.#ledger.count(spentOn([trace]));
        options.onAttempt?.(trace);
      },
      mayRetry: () => this.#ledger.reached() === null,
    };
    try {
      const chosen = { ...request, ...choiceOf(this.#model, request), priced: this.#ledger.priced };
      const call = (): Promise<RouterReply> => this.#router.ask(chosen, watched);
      return await (this.#gate?.run(call, options.signal) ?? call());
    } catch (error) {
      // Failed attempts may have used up the rest of a limit, so Vis checks the limits again.
      if (error instanceof ProviderError) this.#ledger.check();
      throw error;
    } finally {
      reservation.settle(spent);
    }
  }
}

function choiceOf(model: string | null, request: RouterRequest): Partial<RouterRequest> {
  const name = request.model ?? model;
  if (name === null || name === undefined) return {};
  return isPreference(name) ? { prefer: request.prefer ?? name, model: null } : { model: name };
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** The creator must close the deadline. */
export class QueryDeadline {
  readonly signal: AbortSignal;
  readonly #caller: AbortSignal;
  readonly #now: () => number;
  readonly #begun: number;
  readonly #wallMs: number | null;
  readonly #passing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #holds = 0;
  #heldSince = 0;
  #heldBefore = 0;
  #closed = false;

  constructor(
    caller: AbortSignal,
    { wallMs, now = Date.now, elapsedMs = 0 }: {
      readonly wallMs: number | null;
      readonly now?: () => number;
      readonly elapsedMs?: number;
    },
  ) {
    this.#caller = caller;
    this.#now = now;
    this.#begun = now() - elapsedMs;
    this.#wallMs = wallMs !== null && wallMs > MAX_TIMER_MS ? null : wallMs;
    this.signal = this.#wallMs === null ? caller : AbortSignal.any([caller, this.#passing.signal]);
    this.#arm();
  }

  get heldMs(): number {
    return this.#heldBefore + (this.#holds > 0 ? this.#now() - this.#heldSince : 0);
  }

  get elapsedMs(): number {
    return this.#now() - this.#begun - this.heldMs;
  }

  get passed(): boolean {
    return this.signal.aborted && !this.#caller.aborted;
  }

  async held<T>(work: () => Promise<T>): Promise<T> {
    if (this.#holds++ === 0) {
      this.#heldSince = this.#now();
      this.#disarm();
    }
    try {
      return await work();
    } finally {
      if (--this.#holds === 0) {
        this.#heldBefore += this.#now() - this.#heldSince;
        this.#arm();
      }
    }
  }

  close(): void {
    this.#closed = true;
    this.#disarm();
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(): void {
    if (this.#wallMs === null || this.#closed) return;
    this.#timer = setTimeout(() => this.#passing.abort(), Math.max(0, this.#wallMs - this.elapsedMs));
  }
}
