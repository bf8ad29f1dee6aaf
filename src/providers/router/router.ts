import { ProviderError } from "../../domain/errors.ts";
import { backoffMs, type Clock, REAL_CLOCK } from "../../domain/kit/concurrency.ts";
import { type ModelTrace, spentOn, type WebSource } from "../../domain/query/model_call.ts";
import type { Usage } from "../../domain/query/query_schemas.ts";
import type { Log } from "../../logging/log.ts";
import {
  type Capabilities,
  costOf,
  estimateTokens,
  type ModelEvent,
  type ModelMessage,
  type ReasoningLevel,
} from "../provider.ts";
import { ProviderGuard, type RateLimit, type Ticket } from "./_breaker.ts";
import { type Patience, watchedStream } from "./_watched_stream.ts";
import { fittingRoutes, type ModelPreference, type ModelRoute, namedRoutes } from "./routes.ts";

export interface RouterOptions {
  readonly routes: readonly ModelRoute[];
  readonly limits?: Readonly<Record<string, RateLimit>>;
  readonly notes?: readonly string[];
  readonly clock?: Clock;
  readonly log?: Pick<Log, "warn">;
  readonly random?: () => number;
  /** In the first round, the router calls a route up to this many times before the next route (default 3). In later
   * rounds, the router calls each route once. */
  readonly attempts?: number;
  /** After a round in which routes failed with temporary errors, the router begins further rounds for at most this time
   * (default 5 min). */
  readonly patienceMs?: number;
  readonly firstTokenMs?: number;
  readonly silenceMs?: number;
  readonly replyMs?: number;
}

export interface RouterRequest {
  readonly messages: readonly ModelMessage[];
  readonly reasoning: ReasoningLevel;
  readonly prefer?: ModelPreference | null;
  /** The name has the form "model" or "provider/model", and the model need not have a route. */
  readonly model?: string | null;
  readonly priced?: boolean;
  readonly search?: boolean;
}

export interface RouterCallOptions {
  readonly signal: AbortSignal;
  /** Returns whether a user has seen a part. The router does not repeat a call whose reply a user has seen in part. */
  readonly onEvent?: (event: Exclude<ModelEvent, { type: "end" }>) => boolean;
  readonly onAttempt?: (trace: ModelTrace) => void;
  readonly mayRetry?: () => boolean;
  /** If true, the router tries a service once before the time of its breaker is over. */
  readonly probes?: boolean;
  readonly onPause?: (pause: Pause) => void;
  /** The router calls `onWait` after 15 s without text or reasoning of an attempt, and again each time the wait has
   * doubled. A limit of a day or more turns these calls off. */
  readonly onWait?: (wait: Wait) => void;
}

type Wait = Readonly<{ model: string; waitedMs: number; limitMs: number }>;

export interface Pause {
  readonly reason: string;
  readonly waitMs: number;
  readonly attempt: number;
}

export interface RouterReply {
  readonly text: string;
  readonly reasoning: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly model: string;
  readonly provider: string;
  readonly finish: string;
  readonly toolCall: string | null;
  readonly sources: readonly WebSource[];
  readonly attempts: readonly ModelTrace[];
}

interface Way {
  readonly route: ModelRoute;
  readonly gate: ProviderGuard;
  readonly ticket: Ticket;
}

interface Asking {
  readonly request: RouterRequest;
  readonly options: RouterCallOptions;
  readonly tokens: number;
  readonly attempts: ModelTrace[];
  readonly retries: Retries;
  /** Aborts when the user has chosen another model. */
  readonly replaced: AbortSignal;
}

type Served = Omit<RouterReply, "attempts">;

type Round = { readonly reply: Served } | {
  readonly error: ProviderError;
  readonly asked: boolean;
  readonly shown?: boolean;
  readonly passing: readonly { readonly route: ModelRoute; readonly error: ProviderError }[];
};

const NO_LOG: Pick<Log, "warn"> = { warn: () => {} };
const LONGEST_RATE_WAIT_MS = 120_000;

const BREAKER = { failures: 5, openMs: 60_000 };

export class Router {
  #routes: readonly [ModelRoute, ...ModelRoute[]];
  #replaced = new AbortController();
  readonly #gates = new Map<string, ProviderGuard>();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #attempts: number;
  #patience: CallPatience;
  #patienceMs: number;
  #notes: readonly string[];

  constructor(options: RouterOptions) {
    const [first, ...others] = options.routes;
    if (first === undefined) throw new RangeError("Cannot route a call: the list of routes is empty");
    this.#routes = [first, ...others];
    this.#clock = options.clock ?? REAL_CLOCK;
    this.#random = options.random ?? Math.random;
    this.#attempts = options.attempts ?? 3;
    const { firstTokenMs = 120_000, silenceMs = 60_000, replyMs = 3_600_000, log = NO_LOG } = options;
    this.#patience = { clock: this.#clock, firstTokenMs, silenceMs, replyMs, log };
    this.#patienceMs = options.patienceMs ?? 300_000;
    this.#notes = options.notes ?? [];
    for (const { provider: { name } } of this.#routes) {
      const limit = options.limits?.[name] ?? null;
      this.#gates.set(name, new ProviderGuard(name, { clock: this.#clock, breaker: BREAKER, limit }));
    }
  }

  /** A running call of the former model continues, but Vis repeats a failed call with the new model. */
  become(other: Router): void {
    this.#routes = other.#routes;
    this.#replaced.abort();
    this.#replaced = new AbortController();
    this.#patience = other.#patience;
    this.#patienceMs = other.#patienceMs;
    this.#notes = other.#notes;
    for (const [name, gate] of other.#gates) this.#gates.set(name, gate);
  }

  get routes(): readonly ModelRoute[] {
    return this.#routes;
  }

  get notes(): readonly string[] {
    return this.#notes;
  }

  current(): ModelRoute & { readonly capabilities: Capabilities } {
    const [{ provider, model }] = this.#routes;
    return { provider, model, capabilities: provider.capabilities(model) };
  }

  async ask(request: RouterRequest, options: RouterCallOptions): Promise<RouterReply> {
    const attempts: ModelTrace[] = [];
    const onAttempt = (trace: ModelTrace): void => {
      attempts.push(trace);
      options.onAttempt?.(trace);
    };
    const tokens = estimateTokens(request.messages);
    const retries = new Retries({ clock: this.#clock, random: this.#random, patienceMs: this.#patienceMs });
    const asking = { request, options: { ...options, onAttempt }, tokens, attempts, retries };
    const fitting = () =>
      fittingRoutes(this.#named(request.model), { ...request, prefer: request.prefer ?? null, tokens });
    const never = new AbortController().signal, replacing = () => request.model ? never : this.#replaced.signal;
    let routes = fitting(), known: ProviderError | null = null, replaced = replacing();
    for (let tries = this.#attempts;; tries = 1) {
      const round = await this.#round(routes, { asking: { ...asking, replaced }, tries });
      if ("reply" in round) return { ...round.reply, ...spentOn(attempts), attempts };
      if (!replaced.aborted || round.shown || !mayRetry(options)) {
        const passing = mayRetry(options) ? round.passing : [];
        known = round.asked ? round.error : known ?? round.error;
        const waitMs = retries.patientMs(passing.map(({ error }) => error));
        if (waitMs === null) throw known === round.error && !round.asked ? this.#ending(known, routes) : known;
        await this.#pause(waitMs, { error: known, asking: { ...asking, replaced } });
        routes = passing.map(({ route }) => route);
      }
      if (replaced.aborted) [routes, replaced] = [fitting(), replacing()];
    }
  }

  async #round(
    routes: readonly ModelRoute[],
    { asking, tries }: { readonly asking: Asking; readonly tries: number },
  ): Promise<Round> {
    const left = [...routes];
    const passing: { route: ModelRoute; error: ProviderError }[] = [];
    for (let last: ProviderError | null = null;;) {
      const way = await this.#enter(left, asking);
      if (way instanceof ProviderError) {
        const later = way.retryable ? left.filter((route) => this.#gate(route).reached) : [];
        passing.push(...later.map((route) => ({ route, error: way })));
        return { error: last ?? way, asked: last !== null, passing };
      }
      left.splice(left.indexOf(way.route), 1);
      const call = new ModelCall(asking.request, way.route, asking.options);
      const outcome = await this.#askRoute(call, { ...way, asking, tries });
      if (!(outcome instanceof ProviderError)) return { reply: outcome };
      last = outcome;
      if (call.shown) return { error: outcome, asked: true, passing: [], shown: true };
      const { route, gate } = way;
      if (gate.mayPass(outcome)) {
        passing.push({ route, error: gate.open ? outcome : gate.refusal({ ends: false, alone: this.#alone }) });
      }
      if (left.length === 0 || asking.replaced.aborted || !mayRetry(asking.options)) {
        return { error: outcome, asked: true, passing };
      }
    }
  }

  get #alone(): boolean {
    return this.#routes.length === 1;
  }

  #ending(error: ProviderError, [first]: readonly ModelRoute[]): ProviderError {
    const gate = first && error.retryable ? this.#gate(first) : null;
    return gate && !gate.open ? gate.refusal({ ends: true, alone: this.#alone }) : error;
  }

  async #pause(
    waitMs: number,
    { error: { brief: reason }, asking }: { readonly error: ProviderError; readonly asking: Asking },
  ): Promise<void> {
    const { options, attempts, replaced } = asking;
    options.onPause?.({ reason, waitMs, attempt: attempts.length + 1 });
    await this.#clock.sleep(waitMs, AbortSignal.any([options.signal, replaced])).catch((error: unknown) => {
      if (options.signal.aborted || !replaced.aborted) throw error;
    });
  }

  #named(model: string | null | undefined): readonly ModelRoute[] {
    return model ? namedRoutes(this.#routes, model) : this.#routes;
  }

  #gate({ provider }: ModelRoute): ProviderGuard {
    const gate = this.#gates.get(provider.name);
    if (gate === undefined) {
      throw new RangeError(`Cannot route to ${provider.name}: the router does not know this provider`);
    }
    return gate;
  }

  /** Resolves with an error if all breakers refuse, or if the rate windows need more than `LONGEST_RATE_WAIT_MS`.
   * Concurrent calls compete for places, so no `await` may come between `waitMs` and `enter`. */
  async #enter(left: readonly ModelRoute[], asking: Asking): Promise<Way | ProviderError> {
    const { tokens, attempts, options: { probes = false } } = asking;
    for (;;) {
      const free = left.filter((route) => this.#gate(route).open);
      const isProbe = probes && free.length === 0 && attempts.length === 0;
      const open = isProbe ? left.filter((route) => this.#gate(route).triable) : free;
      const waits = open.map((route) => this.#gate(route).waitMs(tokens));
      const [first] = open.length > 0 ? open : left;
      if (first === undefined) throw new RangeError("Cannot call a model: no route is left");
      if (open.length === 0) return this.#gate(first).refusal({ ends: false, alone: this.#alone });
      const soonest = Math.min(...waits);
      const route = open[waits.indexOf(soonest)] ?? first;
      const gate = this.#gate(route);
      if (soonest === 0) return { route, gate, ticket: gate.enter(tokens) };
      const ends = soonest > LONGEST_RATE_WAIT_MS;
      const full = gate.full(soonest, { ends });
      if (ends) return full;
      await this.#pause(soonest, { error: full, asking });
      if (asking.replaced.aborted) return full;
    }
  }

  async #askRoute(
    call: ModelCall,
    { route, gate, ticket, asking, tries }: Way & { readonly asking: Asking; readonly tries: number },
  ): Promise<Served | ProviderError> {
    let place = ticket;
    for (let attempt = 1;; attempt++) {
      const outcome = await this.#attempt(call, { gate, ticket: place });
      if (!(outcome instanceof ProviderError)) return outcome;
      const again = !call.shown && attempt < tries && gate.open && mayRetry(asking.options);
      const waitMs = again ? asking.retries.quickMs(outcome, attempt) : null;
      if (waitMs === null) return outcome;
      await this.#pause(waitMs, { error: outcome, asking });
      if (asking.replaced.aborted) return outcome;
      const next = await this.#enter([route], asking);
      if (next instanceof ProviderError) return outcome;
      place = next.ticket;
    }
  }

  async #attempt(call: ModelCall, { gate, ticket }: Pick<Way, "gate" | "ticket">): Promise<Served | ProviderError> {
    let outcome: Served | ProviderError | null = null;
    try {
      outcome = await call.run(this.#patience);
      return outcome;
    } finally {
      gate.leave(ticket, outcome, call);
    }
  }
}

function mayRetry(options: RouterCallOptions): boolean {
  return options.mayRetry?.() ?? true;
}

interface CallPatience extends Patience {
  readonly log: Pick<Log, "warn">;
}

class ModelCall {
  heard = false;
  shown = false;
  #usage: Usage | null = null;
  readonly #request: RouterRequest;
  readonly #route: ModelRoute;
  readonly #options: RouterCallOptions;

  constructor(request: RouterRequest, route: ModelRoute, options: RouterCallOptions) {
    this.#request = request;
    this.#route = route;
    this.#options = options;
  }

  async run(patience: CallPatience): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    const { clock } = patience;
    const start = clock.now();
    const { provider, model } = this.#route;
    const trace = (outcome: Pick<ModelTrace, "ok" | "status" | "error" | "usage" | "costUsd">): void => {
      const ms = Math.round(clock.now() - start);
      this.#options.onAttempt?.({ provider: provider.name, model, ...outcome, ms, repairs: [] });
    };
    this.#usage = null;
    try {
      const reply = await this.#read(patience);
      trace({ ok: true, status: null, error: null, usage: reply.usage, costUsd: reply.costUsd });
      return reply;
    } catch (error) {
      const known = error instanceof ProviderError ? error : null;
      const usage = this.#usage;
      trace({
        ...{ ok: false, status: known?.status ?? null, error: known?.message ?? String(error), usage },
        ...(usage === null ? {} : { costUsd: costOf(usage, provider.capabilities(model).price) }),
      });
      if (known === null) throw error;
      return known;
    }
  }

  async #read({ log, ...limits }: CallPatience): Promise<Omit<RouterReply, "attempts">> {
    const { provider, model, firstTokenMs = limits.firstTokenMs, silenceMs = limits.silenceMs } = this.#route;
    const { signal, onWait } = this.#options;
    const patience = { ...limits, firstTokenMs, silenceMs, onWait };
    const text: string[] = [];
    const reasoning: string[] = [];
    const { messages, reasoning: level, search = false } = this.#request;
    const onUsage = (usage: Usage | null): void => void (this.#usage = usage);
    const request = { model, messages, reasoning: level, signal, onUsage, ...(search ? { search } : {}) };
    for await (const event of watchedStream(provider, request, patience)) {
      if (event.type === "end") {
        const price = provider.capabilities(event.model).price ?? provider.capabilities(model).price;
        const costUsd = costOf(event.usage, price);
        const { usage, finish, oddities, toolCall = null, sources = [] } = event;
        if (oddities) log.warn("usage_left_out", { provider: provider.name, model, counts: oddities });
        const served = { model: event.model, provider: provider.name };
        const said = { text: text.join(""), reasoning: reasoning.join(""), sources };
        return { ...said, usage, costUsd, ...served, finish, toolCall };
      }
      (event.type === "text" ? text : reasoning).push(event.delta);
      this.heard = true;
      if (this.#options.onEvent?.(event)) this.shown = true;
    }
    throw new ProviderError(`Cannot get a reply from ${provider.name}: the reply ended early; try again`, {
      code: "server",
      retryable: true,
    });
  }
}

const QUICK = { firstMs: 500, mostMs: 30_000 };
const LONGEST_QUICK_MS = 60_000;
const PATIENT = { firstMs: 2_000, mostMs: 30_000 };

class Retries {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #patienceMs: number;
  #since: number | null = null;
  #rounds = 0;

  constructor(facts: { readonly clock: Clock; readonly random: () => number; readonly patienceMs: number }) {
    this.#clock = facts.clock;
    this.#random = facts.random;
    this.#patienceMs = facts.patienceMs;
  }

  quickMs(error: ProviderError, attempt: number): number | null {
    if (!error.retryable || (error.retryAfterMs ?? 0) > LONGEST_QUICK_MS) return null;
    return waitMs(error, backoffMs(attempt, { ...QUICK, random: this.#random }));
  }

  patientMs(failures: readonly ProviderError[]): number | null {
    if (failures.length === 0) return null;
    const now = this.#clock.now();
    this.#since ??= now;
    const own = backoffMs(++this.#rounds, { ...PATIENT, random: this.#random });
    const soonest = Math.min(...failures.map((error) => waitMs(error, own)));
    return now + soonest - this.#since > this.#patienceMs ? null : soonest;
  }
}

function waitMs({ retryAfterMs }: ProviderError, own: number): number {
  return retryAfterMs ? retryAfterMs + own * 0.2 : own;
}
