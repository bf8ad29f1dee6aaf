import { ProviderError } from "../../domain/errors.ts";
import type { ModelTrace } from "../../domain/query/model_call.ts";
import type { Log } from "../../logging/log.ts";
import { type Patience, watchedStream } from "./_watched_stream.ts";
import type { ModelRoute, RouterCallOptions, RouterReply, RouterRequest } from "./router.ts";
import { costOf } from "./usage_cost.ts";

export interface CallPatience extends Patience {
  readonly log: Pick<Log, "warn">;
}

/** The attempts at one request with one route. */
export class ModelCall {
  /** True once part of a reply was received. */
  heard = false;
  /** True once the caller has shown part of a reply. */
  shown = false;
  readonly #request: RouterRequest;
  readonly #route: ModelRoute;
  readonly #options: RouterCallOptions;

  constructor(request: RouterRequest, route: ModelRoute, options: RouterCallOptions) {
    this.#request = request;
    this.#route = route;
    this.#options = options;
  }

  /** Throws `Cancelled` and defects. */
  async run(patience: CallPatience): Promise<Omit<RouterReply, "attempts"> | ProviderError> {
    const { clock } = patience;
    const start = clock.now();
    const trace = (outcome: Pick<ModelTrace, "ok" | "status" | "error" | "usage">): void => {
      const { provider, model } = this.#route;
      const ms = Math.round(clock.now() - start);
      this.#options.onAttempt?.({ provider: provider.name, model, ...outcome, ms, repairs: [] });
    };
    try {
      const reply = await this.#read(patience);
      trace({ ok: true, status: null, error: null, usage: reply.usage });
      return reply;
    } catch (error) {
      const known = error instanceof ProviderError ? error : null;
      trace({ ok: false, status: known?.status ?? null, error: known?.message ?? String(error), usage: null });
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
    const { messages, reasoning: level } = this.#request;
    for await (const event of watchedStream(provider, { model, messages, reasoning: level, signal }, patience)) {
      if (event.type === "end") {
        const price = provider.capabilities(event.model).price ?? provider.capabilities(model).price;
        const costUsd = costOf(event.usage, price);
        const { usage, finish, oddities, toolCall = null } = event;
        if (oddities) log.warn("usage_left_out", { provider: provider.name, model, counts: oddities });
        const served = { model: event.model, provider: provider.name };
        return { text: text.join(""), reasoning: reasoning.join(""), usage, costUsd, ...served, finish, toolCall };
      }
      (event.type === "text" ? text : reasoning).push(event.delta);
      this.heard = true;
      if (this.#options.onEvent?.(event)) this.shown = true;
    }
    throw new ProviderError(`Cannot get a reply from ${provider.name}: it ended early`, {
      code: "server",
      retryable: true,
    });
  }
}
