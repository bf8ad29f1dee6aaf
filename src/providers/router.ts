import { ProviderError } from "../domain/errors.ts";
import type { Usage } from "../domain/usage.ts";
import { type Clock, REAL_CLOCK } from "./_clock.ts";
import { watchedStream } from "./_watched_stream.ts";
import type { ModelTrace } from "../domain/model_trace.ts";
import type { Capabilities, ModelEvent, ModelMessage, Provider, ReasoningLevel } from "./provider.ts";
import { costOf } from "./usage_cost.ts";

export interface Route {
  readonly provider: Provider;
  readonly model: string;
}

export interface RouterOptions {
  /** At least one; the first is the root model, the others serve when it fails. */
  readonly routes: readonly Route[];
  readonly clock?: Clock;
  /** 0 up to 1, for jitter. */
  readonly random?: () => number;
  /** Calls of one provider before the next one is asked (default 3). */
  readonly attempts?: number;
  /** Default 120 s. */
  readonly firstTokenMs?: number;
  /** Default 60 s. */
  readonly silenceMs?: number;
}

export interface RouterRequest {
  readonly messages: readonly ModelMessage[];
  readonly reasoning: ReasoningLevel;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Text and reasoning as they arrive. */
  readonly onEvent?: (event: Exclude<ModelEvent, { type: "end" }>) => void;
  /** After each attempt; `waitMs` is the pause before the same provider is asked again, null where it is not. */
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

const BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Asks the first provider that answers. */
export class Router {
  readonly #routes: readonly [Route, ...Route[]];
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #attempts: number;
  readonly #firstTokenMs: number;
  readonly #silenceMs: number;

  constructor(options: RouterOptions) {
    const [first, ...others] = options.routes;
    if (first === undefined) throw new RangeError("Cannot route: no provider is given");
    this.#routes = [first, ...others];
    this.#clock = options.clock ?? REAL_CLOCK;
    this.#random = options.random ?? Math.random;
    this.#attempts = options.attempts ?? 3;
    this.#firstTokenMs = options.firstTokenMs ?? 120_000;
    this.#silenceMs = options.silenceMs ?? 60_000;
  }

  /** The root model, for which requests are composed. */
  current(): Route & { readonly capabilities: Capabilities } {
    const [{ provider, model }] = this.#routes;
    return { provider, model, capabilities: provider.capabilities(model) };
  }

  /** One reply. A call that fails before its first event is retried, then the next provider is asked; after its first
   * event it is not, since channels have shown a part of it. Throws the last `ProviderError`, or `Cancelled`. */
  async ask(request: RouterRequest, options: AskOptions): Promise<RouterReply> {
    const attempts: ModelTrace[] = [];
    const onAttempt: AskOptions["onAttempt"] = (trace, next) => {
      attempts.push(trace);
      options.onAttempt?.(trace, next);
    };
    let last: ProviderError | null = null;
    for (const route of this.#routes) {
      const call = new Call(request, route, { ...options, onAttempt });
      const outcome = await this.#askRoute(call, options.signal);
      if (!(outcome instanceof ProviderError)) return { ...outcome, attempts };
      last = outcome;
      if (call.emitted) break;
    }
    throw last;
  }

  async #askRoute(call: Call, signal: AbortSignal): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    const patience = { clock: this.#clock, firstTokenMs: this.#firstTokenMs, silenceMs: this.#silenceMs };
    for (let attempt = 1;; attempt++) {
      const outcome = await call.run(patience);
      if (!(outcome instanceof ProviderError)) return outcome;
      const waitMs = call.emitted || attempt >= this.#attempts ? null : this.#wait(outcome, attempt);
      call.report(outcome, waitMs);
      if (waitMs === null) return outcome;
      await this.#clock.sleep(waitMs, signal);
    }
  }

  /** Milliseconds before the next attempt, null where there should be none. */
  #wait(error: ProviderError, attempt: number): number | null {
    if (!error.retryable || (error.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return null;
    const backoff = Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** (attempt - 1));
    const jittered = backoff * (0.5 + this.#random() / 2);
    // Many clients are told the same moment: the jitter spreads them after it.
    return error.retryAfterMs === null ? jittered : error.retryAfterMs + jittered * 0.2;
  }
}

/** The attempts at one request with one provider. */
class Call {
  readonly #request: RouterRequest;
  readonly #route: Route;
  readonly #options: AskOptions;
  #emitted = false;
  #ms = 0;

  constructor(request: RouterRequest, route: Route, options: AskOptions) {
    this.#request = request;
    this.#route = route;
    this.#options = options;
  }

  /** True once something reached the caller. */
  get emitted(): boolean {
    return this.#emitted;
  }

  /** Reports success, cancellation and defects itself; a `ProviderError` is returned for the caller to report. */
  async run(
    patience: { readonly clock: Clock; readonly firstTokenMs: number; readonly silenceMs: number },
  ): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    const start = patience.clock.now();
    try {
      const reply = await this.#read(patience);
      this.#ms = patience.clock.now() - start;
      this.#trace({ ok: true, status: null, error: null, usage: reply.usage }, null);
      return reply;
    } catch (error) {
      this.#ms = patience.clock.now() - start;
      if (error instanceof ProviderError) return error;
      this.#trace({ ok: false, status: null, error: String(error), usage: null }, null);
      throw error;
    }
  }

  report(error: ProviderError, waitMs: number | null): void {
    this.#trace({ ok: false, status: error.status, error: error.message, usage: null }, waitMs);
  }

  async #read(
    patience: { readonly clock: Clock; readonly firstTokenMs: number; readonly silenceMs: number },
  ): Promise<Omit<RouterReply, "attempts">> {
    const { provider, model } = this.#route;
    const { signal } = this.#options;
    const text: string[] = [];
    const reasoning: string[] = [];
    for await (const event of watchedStream(provider, { ...this.#request, model, signal }, patience)) {
      if (event.type === "end") {
        const price = provider.capabilities(event.model).price ?? provider.capabilities(model).price;
        const costUsd = costOf(event.usage, price);
        const { usage, finish } = event;
        const served = { model: event.model, provider: provider.name };
        return { text: text.join(""), reasoning: reasoning.join(""), usage, costUsd, ...served, finish };
      }
      (event.type === "text" ? text : reasoning).push(event.delta);
      this.#emitted = true;
      this.#options.onEvent?.(event);
    }
    throw new ProviderError(`Cannot get a reply from ${provider.name}: it ended before its end`, {
      kind: "server",
      retryable: true,
    });
  }

  #trace(outcome: Pick<ModelTrace, "ok" | "status" | "error" | "usage">, waitMs: number | null): void {
    const { provider, model } = this.#route;
    const trace = { provider: provider.name, model, ...outcome, ms: Math.round(this.#ms), repairs: [] };
    this.#options.onAttempt?.(trace, { waitMs });
  }
}
