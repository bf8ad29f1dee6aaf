import { backoffMs } from "../domain/backoff_ms.ts";
import { ProviderError } from "../domain/errors.ts";
import type { ModelTrace } from "../domain/model_trace.ts";
import type { Usage } from "../domain/usage.ts";
import type { BreakerLimits } from "./_breaker.ts";
import { Call } from "./_call.ts";
import { type Clock, REAL_CLOCK } from "./_clock.ts";
import { estimateTokens, fittingRoutes } from "./_fitting_routes.ts";
import { Gate } from "./_gate.ts";
import type { RateLimit, Ticket } from "./_rate_window.ts";
import type { Capabilities, ModelEvent, ModelMessage, Provider, ReasoningLevel } from "./provider.ts";

export type ModelPreference = "cost" | "speed" | "intelligence";

export interface Route {
  readonly provider: Provider;
  readonly model: string;
  /** Ranks among the models, higher is better; where there are none, prices and reasoning stand for them. */
  readonly speed?: number | undefined;
  readonly intelligence?: number | undefined;
}

export interface RouterOptions {
  /** At least one; the first is the root model, the others serve when it fails or when they are asked for. */
  readonly routes: readonly Route[];
  /** By name of the provider. */
  readonly limits?: Readonly<Record<string, RateLimit>>;
  /** What a user should know about how the routes came to be. */
  readonly notes?: readonly string[];
  readonly clock?: Clock;
  /** 0 up to 1, for jitter. */
  readonly random?: () => number;
  /** Calls of one route before the next one is asked (default 3). */
  readonly attempts?: number;
  /** Default 120 s. */
  readonly firstTokenMs?: number;
  /** Default 60 s. */
  readonly silenceMs?: number;
  /** Default 5 failures in a row, 60 s. */
  readonly breaker?: BreakerLimits;
}

export interface RouterRequest {
  readonly messages: readonly ModelMessage[];
  readonly reasoning: ReasoningLevel;
  /** Another order of the routes, for this call only. */
  readonly prefer?: ModelPreference | null;
  /** Only this model serves: "model" or "provider/model"; a name that no route has is asked of the root's provider. */
  readonly model?: string | null;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Text and reasoning as they arrive. */
  readonly onEvent?: (event: Exclude<ModelEvent, { type: "end" }>) => void;
  /** After each attempt; `waitMs` is the pause before the same route is asked again, null where it is not. */
  readonly onAttempt?: (trace: ModelTrace, next: { readonly waitMs: number | null }) => void;
}

export interface RouterReply {
  readonly text: string;
  readonly reasoning: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** The model and provider that served. */
  readonly model: string;
  readonly provider: string;
  readonly finish: string;
  /** Oldest first; the last one succeeded. */
  readonly attempts: readonly ModelTrace[];
}

/** A route and the place that was taken in its gate. */
interface Way {
  readonly route: Route;
  readonly gate: Gate;
  readonly ticket: Ticket;
}

const BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 60_000;
const LONGEST_RATE_WAIT_MS = 120_000;

/** Asks the first route that answers: each provider behind a breaker and a rate window of its own. */
export class Router {
  readonly #routes: readonly [Route, ...Route[]];
  readonly #gates = new Map<string, Gate>();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #attempts: number;
  readonly #patience: { readonly clock: Clock; readonly firstTokenMs: number; readonly silenceMs: number };
  readonly #notes: readonly string[];

  constructor(options: RouterOptions) {
    const [first, ...others] = options.routes;
    if (first === undefined) throw new RangeError("Cannot route: no provider is given");
    this.#routes = [first, ...others];
    this.#clock = options.clock ?? REAL_CLOCK;
    this.#random = options.random ?? Math.random;
    this.#attempts = options.attempts ?? 3;
    const { firstTokenMs = 120_000, silenceMs = 60_000 } = options;
    this.#patience = { clock: this.#clock, firstTokenMs, silenceMs };
    this.#notes = options.notes ?? [];
    const breaker = options.breaker ?? { failures: 5, openMs: 60_000 };
    for (const { provider: { name } } of this.#routes) {
      const limit = options.limits?.[name] ?? null;
      this.#gates.set(name, new Gate(name, { clock: this.#clock, breaker, limit }));
    }
  }

  /** All models that may serve, the root first. */
  get routes(): readonly Route[] {
    return this.#routes;
  }

  /** What a user should know about the routes, "" lines left out; for the line that starts a query. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** The root model, for which requests are composed. */
  current(): Route & { readonly capabilities: Capabilities } {
    const [{ provider, model }] = this.#routes;
    return { provider, model, capabilities: provider.capabilities(model) };
  }

  /** One reply. A call that fails before its first event is retried, then the next route is asked; after its first
   * event it is not, since channels have shown a part of it. Throws the last `ProviderError`, or `Cancelled`. */
  async ask(request: RouterRequest, options: AskOptions): Promise<RouterReply> {
    const attempts: ModelTrace[] = [];
    const onAttempt: AskOptions["onAttempt"] = (trace, next) => {
      attempts.push(trace);
      options.onAttempt?.(trace, next);
    };
    const tokens = estimateTokens(request.messages);
    const left = [...fittingRoutes(this.#named(request.model), { ...request, prefer: request.prefer ?? null, tokens })];
    let last: ProviderError | null = null;
    while (left.length > 0) {
      const way = await this.#enter(left, { tokens, signal: options.signal });
      if (way instanceof ProviderError) throw last ?? way;
      left.splice(left.indexOf(way.route), 1);
      const call = new Call(request, way.route, { ...options, onAttempt });
      const outcome = await this.#askRoute(call, { ...way, tokens, signal: options.signal });
      if (!(outcome instanceof ProviderError)) return { ...outcome, attempts };
      last = outcome;
      if (call.emitted) break;
    }
    throw last;
  }

  #named(model: string | null | undefined): readonly Route[] {
    if (!model) return this.#routes;
    const named = this.#routes.filter((route) =>
      route.model === model || `${route.provider.name}/${route.model}` === model
    );
    return named.length > 0 ? named : [{ provider: this.#routes[0].provider, model }];
  }

  #gate({ provider }: Route): Gate {
    const gate = this.#gates.get(provider.name);
    if (gate === undefined) throw new RangeError(`Cannot route to ${provider.name}: it has no gate`);
    return gate;
  }

  /** A place at the first route with room; where every rate window is full, at the one that has room first, after the
   * wait. Nothing is awaited between finding a place and taking it: many callers ask at once. */
  async #enter(
    left: readonly Route[],
    { tokens, signal }: { readonly tokens: number; readonly signal: AbortSignal },
  ): Promise<Way | ProviderError> {
    for (;;) {
      const open = left.filter((route) => this.#gate(route).open);
      const waits = open.map((route) => this.#gate(route).waitMs(tokens));
      const [first] = open.length > 0 ? open : left;
      if (first === undefined) throw new RangeError("Cannot route: no route is left");
      if (open.length === 0) return this.#gate(first).refusal();
      const soonest = Math.min(...waits);
      const route = open[waits.indexOf(soonest)] ?? first;
      const gate = this.#gate(route);
      if (soonest === 0) return { route, gate, ticket: gate.enter(tokens) };
      if (soonest > LONGEST_RATE_WAIT_MS) return gate.full(soonest);
      await this.#clock.sleep(soonest, signal);
    }
  }

  async #askRoute(
    call: Call,
    { route, gate, ticket, tokens, signal }: Way & { readonly tokens: number; readonly signal: AbortSignal },
  ): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    let place = ticket;
    for (let attempt = 1;; attempt++) {
      const outcome = await this.#attempt(call, { gate, ticket: place });
      if (!(outcome instanceof ProviderError)) return outcome;
      const again = !call.emitted && attempt < this.#attempts && gate.open;
      const waitMs = again ? this.#wait(outcome, attempt) : null;
      call.report(outcome, waitMs);
      if (waitMs === null) return outcome;
      await this.#clock.sleep(waitMs, signal);
      const next = await this.#enter([route], { tokens, signal });
      if (next instanceof ProviderError) return outcome;
      place = next.ticket;
    }
  }

  async #attempt(
    call: Call,
    { gate, ticket }: Pick<Way, "gate" | "ticket">,
  ): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    let outcome: Omit<RouterReply, "attempts"> | ProviderError | null = null;
    try {
      outcome = await call.run(this.#patience);
      return outcome;
    } finally {
      gate.leave(ticket, outcome);
    }
  }

  /** Milliseconds before the next attempt, null where there should be none. */
  #wait(error: ProviderError, attempt: number): number | null {
    if (!error.retryable || (error.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return null;
    const jittered = backoffMs(attempt, { firstMs: BACKOFF_MS, mostMs: LONGEST_BACKOFF_MS, random: this.#random });
    // Many clients are told the same moment: the jitter spreads them after it.
    return error.retryAfterMs === null ? jittered : error.retryAfterMs + jittered * 0.2;
  }
}
