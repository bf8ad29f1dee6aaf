import { Cancelled, ConfigError, ENDED, ProviderError } from "../../domain/errors.ts";
import { abortable, settledWithin } from "../../domain/kit/concurrency.ts";
import { asRecord } from "../../domain/kit/json.ts";
import {
  type Capabilities,
  estimateTokens,
  type ModelEvent,
  type ModelRequest,
  type Provider,
  UNKNOWN_MODEL,
} from "../provider.ts";
import { Endpoint } from "./_endpoint.ts";
import { eventJson, type ExchangeFacts, HttpExchange, type Quirks } from "./_exchange.ts";
import { Failures, isError } from "./_failures.ts";
import { ReplyBuilder } from "./reply_builder.ts";
import type { Advice, ProviderApi, ProviderOptions, WireCall, WireProtocol } from "./wire.ts";

export async function createProvider(protocol: WireProtocol, options: ProviderOptions): Promise<Provider> {
  return new WireProvider(await WIRES[protocol](options.baseUrl), options);
}

const WIRES: Readonly<Record<WireProtocol, (baseUrl: string) => Promise<ProviderApi>>> = {
  "openai-chat": async (baseUrl) => (await import("./openai_chat.ts")).openAiChat(baseUrl),
  "openai-responses": async (baseUrl) => (await import("./openai_responses.ts")).openAiResponses(baseUrl),
  "anthropic": async () => (await import("./anthropic.ts")).anthropic,
  "google": async () => (await import("./google.ts")).google,
};

/** If the bytes end within this time after the last event, the connection can serve the next call. */
const LAST_BYTES_MS = 50;
const GRACE_MS = 5_000;
const NO_STREAMING =
  /\bstream(ing)?\b['"`]?.{0,60}\b(not |un|dis)(supported|allowed|enabled|available|implemented|abled)|\b(not |un)support\w*\b.{0,40}\bstream(ing)?\b|\bstream['"`]? (does not|must be|should be).{0,20}(true|false)|\bstream(ing)? (is|was) (off|disabled)/i;
const MAX_PAGES = 20, MAX_MODELS = 10_000;

export class WireProvider implements Provider {
  readonly name: string;
  readonly defaultModel: string;
  readonly #wire: ProviderApi;
  readonly #options: ProviderOptions;
  readonly #advice: Advice;
  readonly #without = new Map<string, Set<string>>();
  readonly #quirks: Quirks = { namesCompression: false };
  #last: { readonly token: string | null; readonly endpoint: Endpoint } | null = null;

  constructor(wire: ProviderApi, options: ProviderOptions) {
    this.name = options.name;
    this.defaultModel = options.defaultModel;
    this.#wire = wire;
    this.#options = options;
    this.#advice = options.advice ?? {
      key: `the key of ${options.name}`,
      baseUrl: `the base URL of ${options.name}`,
      model: "the model",
    };
    this.#endpoint(typeof options.token === "string" ? options.token.trim() || null : null);
  }

  capabilities(model: string): Capabilities {
    return this.#options.capabilities?.(model) ?? UNKNOWN_MODEL;
  }

  async models({ signal }: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    throwIfAborted(signal);
    try {
      const endpoint = await this.#signedIn(signal);
      const failures = this.#failures(endpoint);
      const ids: string[] = [];
      for (let page: string | null = null, pages = 0; pages < MAX_PAGES; pages++) {
        const call = this.#wire.modelsAt(page);
        const body = await new HttpExchange({ endpoint, failures, signal, quirks: this.#quirks }, { model: null, call })
          .json();
        const list = this.#wire.modelsIn(body);
        if (list === null) throw failures.unreadable(JSON.stringify(body));
        ids.push(...list.ids.slice(0, MAX_MODELS - ids.length));
        page = list.next;
        if (page === null) break;
      }
      return ids;
    } catch (error) {
      throwIfAborted(signal);
      throw error;
    }
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    throwIfAborted(request.signal);
    this.#checkImages(request);
    const abort = new AbortController();
    const stop = () => abort.abort(ENDED);
    request.signal.addEventListener("abort", stop, { once: true });
    try {
      const endpoint = await this.#signedIn(abort.signal);
      const { onBytes } = request;
      const facts = {
        endpoint,
        failures: this.#failures(endpoint),
        signal: abort.signal,
        quirks: this.#quirks,
        onBytes,
      };
      for await (const event of this.#reply(request, facts)) {
        throwIfAborted(request.signal);
        yield event;
      }
    } catch (error) {
      throwIfAborted(request.signal);
      throw error;
    } finally {
      request.signal.removeEventListener("abort", stop);
      abort.abort(ENDED);
    }
  }

  /** If the service refuses a field before it begins a reply, by a status or in the stream, Vis repeats the call
   * without the field. */
  async *#reply(request: ModelRequest, facts: ExchangeFacts): AsyncGenerator<ModelEvent> {
    const { model, onUsage = () => {} } = request;
    const sentTokens = estimateTokens(request.messages);
    const without = this.#without.get(model) ?? new Set<string>();
    this.#without.set(model, without);
    for (let call = this.#request(request, without);;) {
      const exchange = new HttpExchange(facts, { model, call });
      const reply = new ReplyBuilder(model, sentTokens);
      onUsage(reply.usage);
      let hasBegun = false;
      try {
        for await (const event of this.#events(exchange, { reply, failures: facts.failures, onUsage })) {
          hasBegun = true;
          yield event;
        }
        return;
      } catch (error) {
        const { toolCall = null } = exchange.refusal ?? {};
        if (toolCall !== null && !hasBegun) {
          reply.call({ name: toolCall });
          return yield {
            type: "end",
            usage: reply.usage,
            model,
            finish: "tool_calls",
            toolCall: reply.toolCall ?? "",
          };
        }
        // After a cancellation, the service may have begun to work, so the tokens count.
        if (reply.understood === 0 && !facts.signal.aborted) onUsage(null);
        const refused = hasBegun ? null : this.#refusedField(exchange, error);
        if (refused === null) throw error;
        without.add(refused);
        const next = this.#request(request, without);
        // The refused call already lacked the field, so a repetition would fail again.
        if (JSON.stringify(next) === JSON.stringify(call)) throw error;
        call = next;
      } finally {
        reply.close();
      }
    }
  }

  async *#events(
    exchange: HttpExchange,
    { reply, failures, onUsage }: {
      readonly reply: ReplyBuilder;
      readonly failures: Failures;
      readonly onUsage: NonNullable<ModelRequest["onUsage"]>;
    },
  ): AsyncGenerator<ModelEvent> {
    const events = await exchange.open(this.#wire);
    let grace: AbortSignal | null = null;
    let heard = 0;
    try {
      while (!reply.isWhole) {
        if (reply.isOver) grace ??= AbortSignal.timeout(this.#options.graceMs ?? GRACE_MS);
        const some = await nextOf(events, { reply, grace }).catch((error: unknown) => {
          if (!(error instanceof RangeError)) throw error;
          throw failures.tooLong("an event has more than 8 million characters");
        });
        if (some.done) break;
        try {
          for (const event of some.value) {
            if (typeof event === "string" && event.trim() === "") continue;
            heard++;
            this.#read(event, { reply, exchange, failures });
            if (reply.isWhole) break;
          }
        } finally {
          onUsage(reply.usage);
          yield* reply.take();
        }
      }
      if (reply.isWhole) await settledWithin(drained(events), LAST_BYTES_MS);
    } finally {
      // `return` may wait for bytes that never come, so the stream does not wait for `return`.
      events.return(undefined).catch(() => {});
    }
    this.#checkEnd(reply, { exchange, failures, heard });
    const { usage, model, finish, oddities, toolCall, sources } = reply;
    yield {
      ...{ type: "end", usage, model, finish: finish ?? "stop" },
      ...(toolCall === null ? {} : { toolCall }),
      ...(sources.length > 0 ? { sources } : {}),
      ...(oddities.length > 0 ? { oddities } : {}),
    };
  }

  #request(request: ModelRequest, without: ReadonlySet<string>): WireCall {
    return this.#wire.request(request, { capabilities: this.capabilities(request.model), without });
  }

  #refusedField(exchange: HttpExchange, error: unknown): string | null {
    const { refusal } = exchange;
    const isAboutTheRequest = error instanceof ProviderError && error.code === "server" && refusal !== null &&
      [400, 422, 500, 501].includes(refusal.status);
    if (!isAboutTheRequest) return null;
    const { code, fields, text } = refusal;
    if (fields.includes("stream") || NO_STREAMING.test(text)) return "stream";
    return this.#wire.refused([code, ...fields, text].join(" "));
  }

  #read(raw: unknown, at: { reply: ReplyBuilder; exchange: HttpExchange; failures: Failures }): void {
    const { reply, exchange, failures } = at;
    if (typeof raw === "string" && raw.trim() === "[DONE]") return void (reply.isWhole = true);
    const value = typeof raw === "string" ? eventJson(raw) : raw;
    // Some gateways write null if they have no event to send.
    if (value === null) return;
    if (typeof value !== "object") throw failures.unreadable(String(raw));
    const event = asRecord(Array.isArray(value) ? value[0] : value);
    if (isError(event)) throw exchange.refused(event);
    // Some gateways send pings and notes of their own between the events, so Vis skips unknown events.
    if (this.#wire.read(event, reply)) reply.understood++;
    if (reply.failure !== null) throw exchange.refused(reply.failure);
    if (reply.tooLong !== null) throw failures.tooLong(reply.tooLong);
  }

  #checkEnd(reply: ReplyBuilder, at: { exchange: HttpExchange; failures: Failures; heard: number }): void {
    const { exchange, failures, heard } = at;
    if (reply.isDeclined) throw failures.declined(reply.tail);
    if (reply.finish !== null || (reply.isWhole && reply.understood > 0) || reply.isWholeJson) return;
    if (exchange.bytes === 0 || reply.isWhole) throw failures.empty(null);
    const isStream = reply.understood > 0 || (heard === 0 && /^\s*(:|event:|data:)/.test(exchange.head));
    throw isStream ? failures.cut() : failures.unreadable(exchange.head);
  }

  #checkImages({ messages, model }: ModelRequest): void {
    const hasImages = messages.some(({ images }) => images !== undefined && images.length > 0);
    if (!hasImages || this.capabilities(model).images) return;
    const message =
      `Cannot send an image to ${model} of ${this.name}: Vis does not know that this model accepts images; choose another ` +
      'model, or set "images": true for a model in the settings';
    throw new ProviderError(message, { code: "refused", retryable: false });
  }

  async #signedIn(signal: AbortSignal): Promise<Endpoint> {
    const { token: given } = this.#options;
    const token = typeof given === "string" ? given : await given(signal);
    try {
      return this.#endpoint(token?.trim() || null);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ProviderError(error.message, { code: "auth", retryable: false });
    }
  }

  #endpoint(token: string | null): Endpoint {
    if (this.#last?.token === token) return this.#last.endpoint;
    const { baseUrl, headers } = this.#options;
    const endpoint = new Endpoint({
      baseUrl,
      authorization: token === null ? {} : this.#wire.authorize(token),
      headers: { "user-agent": "vis", ...headers },
      advice: this.#advice,
    });
    this.#last = { token, endpoint };
    return endpoint;
  }

  #failures(endpoint: Endpoint): Failures {
    return new Failures({ endpoint, advice: this.#advice, api: this.#wire.api, now: this.#options.now ?? Date.now });
  }
}

type Events = AsyncGenerator<readonly unknown[]>;

/** A broken connection does not affect a complete reply. After the grace time, the stream ends even if the connection
 * stays open. */
async function nextOf(
  events: Events,
  { reply, grace }: { readonly reply: ReplyBuilder; readonly grace: AbortSignal | null },
) {
  try {
    return await abortable(events.next(), grace ?? undefined);
  } catch (error) {
    const isBroken = error instanceof ProviderError && error.code === "network";
    if (grace?.aborted || isBroken && (reply.isOver || reply.isWholeJson)) return { done: true } as const;
    throw error;
  }
}

async function drained(events: Events): Promise<void> {
  while (!(await events.next()).done) { /* Data after the end is not part of the reply. */ }
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Cancelled("Cancelled");
}
