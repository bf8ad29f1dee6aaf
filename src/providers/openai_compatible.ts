import { Cancelled, ProviderError } from "../domain/errors.ts";
import type { Usage } from "../domain/usage.ts";
import { Endpoint } from "./_endpoint.ts";
import { Exchange } from "./_exchange.ts";
import { Failures } from "./_failures.ts";
import { record } from "./_record.ts";
import { said } from "./_said.ts";
import {
  type Capabilities,
  type ModelEvent,
  type ModelRequest,
  type Provider,
  type ReasoningLevel,
  UNKNOWN_MODEL,
} from "./provider.ts";

export interface OpenAiCompatibleOptions {
  readonly name: string;
  /** With or without a trailing slash; credentials and query are sent, never shown. */
  readonly baseUrl: string;
  /** "" for servers that want none. */
  readonly apiKey: string;
  readonly defaultModel: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: Partial<Capabilities>;
  /** For dates in `retry-after`. */
  readonly now?: () => number;
}

/** Any server that speaks OpenAI's chat completions. Throws `ConfigError` for an address or key that cannot be used. */
export function openAiCompatible(options: OpenAiCompatibleOptions): Provider {
  return new OpenAiCompatible(options);
}

type Library = typeof import("@ai-sdk/openai-compatible");
type LanguageModel = ReturnType<ReturnType<Library["createOpenAICompatible"]>["languageModel"]>;
type Part = Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;
type Finish = Extract<Part, { type: "finish" }>;

const CHAT = "/chat/completions";
/** Enough for a request to leave this machine. */
const SENDING_MS = 15;
const EFFORT: Readonly<Record<ReasoningLevel, "low" | "medium" | "high">> = {
  quick: "low",
  balanced: "medium",
  deep: "high",
};

class OpenAiCompatible implements Provider {
  readonly name: string;
  readonly defaultModel: string;
  readonly #endpoint: Endpoint;
  readonly #failures: Failures;
  readonly #capabilities: Capabilities;
  readonly #models = new Map<string, Promise<LanguageModel>>();
  /** By the signal that the library hands to `fetch`: its only per-call argument that arrives there untouched. */
  readonly #responses = new WeakMap<AbortSignal, Promise<Response>>();

  constructor(options: OpenAiCompatibleOptions) {
    this.name = options.name;
    this.defaultModel = options.defaultModel;
    this.#endpoint = new Endpoint({ ...options, headers: { "user-agent": "vis", ...options.headers } });
    this.#failures = new Failures(this.#endpoint, options.now ?? Date.now);
    this.#capabilities = { ...UNKNOWN_MODEL, ...options.capabilities };
  }

  capabilities(_model: string): Capabilities {
    return this.#capabilities;
  }

  async models(options: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    throwIfAborted(options.signal);
    const exchange = this.#exchange({ model: null, path: "/models" });
    const init = { headers: this.#endpoint.headers, signal: options.signal };
    const body = await exchange.json(init).catch((error) => {
      throwIfAborted(options.signal);
      throw error;
    });
    const { data, models } = record(body);
    const list = [body, data, models].find(Array.isArray);
    if (list === undefined) throw this.#failures.unreadable(JSON.stringify(body));
    return list.map((item) => record(item).id ?? record(item).name ?? item).filter((id) => typeof id === "string");
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    throwIfAborted(request.signal);
    const abort = new AbortController();
    const stop = () => abort.abort();
    request.signal.addEventListener("abort", stop, { once: true });
    const exchange = this.#exchange({ model: request.model, path: CHAT });
    // The request does not wait for the library, which only reads the reply: loading it takes longer than all else
    // before a first request.
    const response = exchange.stream(this.#init(request, abort.signal));
    response.catch(() => {});
    this.#responses.set(abort.signal, response);
    try {
      // Loading blocks the event loop that sends the request.
      if (!this.#models.has(request.model)) await settledWithin(response, SENDING_MS);
      const model = await this.#model(request.model);
      const { stream } = await model.doStream({ prompt: [], abortSignal: abort.signal });
      for await (const event of this.#events(stream, { model: request.model, exchange })) {
        throwIfAborted(request.signal);
        yield event;
      }
    } catch (error) {
      throwIfAborted(request.signal);
      throw this.#failure(error);
    } finally {
      request.signal.removeEventListener("abort", stop);
      abort.abort();
    }
  }

  async *#events(
    stream: ReadableStream<Part>,
    call: { readonly model: string; readonly exchange: Exchange },
  ): AsyncGenerator<ModelEvent> {
    let model = call.model;
    let text = "";
    let parts = 0;
    for await (const part of stream) {
      if (part.type === "text-delta") {
        text += part.delta;
        yield { type: "text", delta: part.delta };
      } else if (part.type === "reasoning-delta") {
        yield { type: "reasoning", delta: part.delta };
      } else if (part.type === "response-metadata") {
        model = part.modelId ?? model;
      } else if (part.type === "error") {
        this.#judge(part.error, { exchange: call.exchange, parts });
      } else if (part.type === "finish") {
        if (part.finishReason.unified === "content-filter") throw this.#failures.declined(text.slice(-500));
        yield { type: "end", usage: usageOf(part.usage), model, finish: finishOf(part.finishReason) };
      }
      if (part.type !== "stream-start" && part.type !== "error") parts++;
    }
  }

  /** Throws for an error part that means a broken reply; returns for one that servers are forgiven. */
  #judge(error: unknown, facts: { readonly exchange: Exchange; readonly parts: number }): void {
    const { name, value, text } = fieldsOf(error);
    if (name === "AI_InvalidResponseDataError") {
      // A reply without a finish reason is whole if the server said so in another way.
      if (facts.exchange.complete && facts.parts > 0) return;
      if (facts.exchange.bytes === 0) throw this.#failures.empty(null);
      throw facts.parts > 0 ? this.#failures.cut() : this.#failures.unreadable(facts.exchange.head);
    }
    if (name === "AI_JSONParseError") throw this.#failures.unreadable(String(text));
    const body = name === "AI_TypeValidationError" ? value : { error };
    if ("error" in record(body)) {
      throw this.#failures.refused({ ...said(body), headers: new Headers() }, { model: null, path: CHAT });
    }
    // Gateways send pings and notes of their own between the chunks.
    if (typeof body === "object" && !("choices" in record(body))) return;
    throw this.#failures.unreadable(JSON.stringify(body));
  }

  /** The `ProviderError` that the library wrapped, or one for what the library found itself. */
  #failure(error: unknown): unknown {
    for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
      if (at instanceof ProviderError || at instanceof Cancelled) return at;
    }
    const isLibrarys = error instanceof Error && error.name.startsWith("AI_");
    return isLibrarys ? this.#failures.unreadable(error.message) : error;
  }

  #init({ model, messages, reasoning }: ModelRequest, signal: AbortSignal): RequestInit {
    const body = {
      model,
      messages: messages.map(({ role, text }) => ({ role, content: text })),
      stream: true,
      stream_options: { include_usage: true },
      ...(this.#capabilities.nativeReasoning ? { reasoning_effort: EFFORT[reasoning] } : {}),
    };
    const headers = { "content-type": "application/json", ...this.#endpoint.headers };
    return { method: "POST", headers, body: JSON.stringify(body), signal };
  }

  #exchange(asked: { readonly model: string | null; readonly path: string }): Exchange {
    return new Exchange({ endpoint: this.#endpoint, failures: this.#failures }, asked);
  }

  #model(id: string): Promise<LanguageModel> {
    const made = this.#models.get(id) ?? this.#makeModel(id);
    this.#models.set(id, made);
    return made;
  }

  async #makeModel(id: string): Promise<LanguageModel> {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const library = createOpenAICompatible({
      name: "vis",
      baseURL: this.#endpoint.base,
      fetch: (_url, init) => {
        const response = init?.signal ? this.#responses.get(init.signal) : undefined;
        return response ?? Promise.reject(new TypeError("Cannot read a reply: its request was never sent"));
      },
    });
    return library.languageModel(id);
  }
}

function usageOf(usage: Finish["usage"]): Usage {
  const input = usage.inputTokens.total ?? 0;
  const hit = record(usage.raw).prompt_cache_hit_tokens;
  const cached = usage.inputTokens.cacheRead || (typeof hit === "number" ? hit : 0);
  return {
    input,
    output: usage.outputTokens.total ?? 0,
    cached: Math.min(cached, input),
    reasoning: usage.outputTokens.reasoning ?? 0,
    calls: 1,
  };
}

function finishOf(reason: Finish["finishReason"]): string {
  if (reason.unified === "error") return "stop";
  return reason.unified === "other" ? reason.raw ?? "stop" : reason.unified;
}

function fieldsOf(error: unknown): { name: unknown; value: unknown; text: unknown } {
  if (!(error instanceof Error)) return { name: undefined, value: undefined, text: undefined };
  return {
    name: error.name,
    value: "value" in error ? error.value : undefined,
    text: "text" in error ? error.text : undefined,
  };
}

/** Resolves when `work` is settled or the time is over. */
function settledWithin(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Cancelled("Cancelled");
}
