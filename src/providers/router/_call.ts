import { ProviderError } from "../../domain/errors.ts";
import type { ModelTrace } from "../../domain/query/model_trace.ts";
import type { Log } from "../../logging/log.ts";
import type { ModelRoute, RouterCallOptions, RouterReply, RouterRequest } from "./router.ts";
import { costOf } from "./usage_cost.ts";
import { type Patience, watchedStream } from "./_watched_stream.ts";

export interface CallPatience extends Patience {
  readonly log: Pick<Log, "warn">;
}

/** The attempts at one request with one route. */
export class ModelCall {
  readonly #request: RouterRequest;
  readonly #route: ModelRoute;
  readonly #options: RouterCallOptions;
  #heard = false;
  #shown = false;
  #ms = 0;

  constructor(request: RouterRequest, route: ModelRoute, options: RouterCallOptions) {
    this.#request = request;
    this.#route = route;
    this.#options = options;
  }

  /** True once part of a reply was received. */
  get heard(): boolean {
    return this.#heard;
  }

  /** True once the caller has shown part of a reply. */
  get shown(): boolean {
    return this.#shown;
  }

  /** Throws `Cancelled` and defects. */
  async run(patience: CallPatience): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    const start = patience.clock.now();
    try {
      const reply = await this.#read(patience);
      this.#ms = patience.clock.now() - start;
      this.#trace({ ok: true, status: null, error: null, usage: reply.usage });
      return reply;
    } catch (error) {
      this.#ms = patience.clock.now() - start;
      const known = error instanceof ProviderError ? error : null;
      this.#trace({ ok: false, status: known?.status ?? null, error: known?.message ?? String(error), usage: null });
      if (known === null) throw error;
      return known;
    }
  }

  async #read(patience: CallPatience): Promise<Omit<RouterReply, "attempts">> {
    const { provider, model } = this.#route;
    const { signal } = this.#options;
    const text: string[] = [];
    const reasoning: string[] = [];
    const { messages, reasoning: level } = this.#request;
    for await (const event of watchedStream(provider, { model, messages, reasoning: level, signal }, patience)) {
      if (event.type === "end") {
        const price = provider.capabilities(event.model).price ?? provider.capabilities(model).price;
        const costUsd = costOf(event.usage, price);
        const { usage, finish, oddities } = event;
        if (oddities) patience.log.warn("usage_left_out", { provider: provider.name, model, counts: oddities });
        const served = { model: event.model, provider: provider.name };
        return { text: text.join(""), reasoning: reasoning.join(""), usage, costUsd, ...served, finish };
      }
      (event.type === "text" ? text : reasoning).push(event.delta);
      this.#heard = true;
      if (this.#options.onEvent?.(event)) this.#shown = true;
    }
    throw new ProviderError(`Cannot get a reply from ${provider.name}: it ended before its end`, {
      code: "server",
      retryable: true,
    });
  }

  #trace(outcome: Pick<ModelTrace, "ok" | "status" | "error" | "usage">): void {
    const { provider, model } = this.#route;
    const trace = { provider: provider.name, model, ...outcome, ms: Math.round(this.#ms), repairs: [] };
    this.#options.onAttempt?.(trace);
  }
}
