import { ProviderError } from "../../domain/errors.ts";
import { type Clock, REAL_CLOCK } from "../../domain/kit/time.ts";
import type { ProviderOptions, WireProtocol } from "../provider_options.ts";
import type { Capabilities, ModelEvent, ModelRequest, Provider } from "../provider.ts";
import { COPILOT_HEADERS, type CopilotEndpoints } from "./endpoints.ts";
import { type CopilotToken, CopilotTokens } from "./token.ts";

export interface CopilotOptions
  extends Pick<ProviderOptions, "name" | "defaultModel" | "headers">, Required<Pick<ProviderOptions, "capabilities">> {
  readonly endpoints: Pick<CopilotEndpoints, "exchange" | "api">;
  readonly githubToken: string;
  /** Models that only the Responses API serves. */
  readonly usesResponses: (model: string) => boolean;
  /** Creates the provider that calls the service. */
  readonly create: (protocol: WireProtocol, options: ProviderOptions) => Provider | Promise<Provider>;
  readonly clock?: Clock;
}

/** GitHub Copilot: short-lived tokens that name the host to call, and a protocol that depends on the model. */
export class CopilotProvider implements Provider {
  readonly name: string;
  readonly defaultModel: string;
  readonly #options: CopilotOptions;
  readonly #tokens: CopilotTokens;
  /** By protocol, host and whether images are sent. */
  readonly #inner = new Map<string, Promise<Provider>>();

  constructor(options: CopilotOptions) {
    this.name = options.name;
    this.defaultModel = options.defaultModel;
    this.#options = options;
    const { githubToken, clock = REAL_CLOCK } = options;
    this.#tokens = new CopilotTokens(options.endpoints, { githubToken, clock });
  }

  capabilities(model: string): Capabilities {
    return this.#options.capabilities(model);
  }

  async models(options: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    const token = await this.#tokens.get(options.signal);
    const inner = await this.#provider(token, { protocol: "openai-chat", images: false });
    return await inner.models(options);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const protocol = this.#options.usesResponses(request.model) ? "openai-responses" : "openai-chat";
    const images = request.messages.some((message) => (message.images?.length ?? 0) > 0);
    for (let attempt = 1;; attempt++) {
      const token = await this.#tokens.get(request.signal);
      const inner = await this.#provider(token, { protocol, images });
      let emitted = false;
      try {
        for await (const event of inner.stream(request)) {
          emitted = true;
          yield event;
        }
        return;
      } catch (error) {
        if (emitted || attempt > 1 || !(error instanceof ProviderError) || error.status !== 401) throw error;
        // The token was revoked early: try once more with a fresh one.
        this.#tokens.drop(token.token);
      }
    }
  }

  #provider(
    { api }: CopilotToken,
    { protocol, images }: { readonly protocol: WireProtocol; readonly images: boolean },
  ): Promise<Provider> {
    const key = `${protocol} ${api} ${images}`;
    const made = this.#inner.get(key) ?? this.#create(api, { protocol, images });
    this.#inner.set(key, made);
    return made;
  }

  async #create(
    api: string,
    { protocol, images }: { readonly protocol: WireProtocol; readonly images: boolean },
  ): Promise<Provider> {
    const { name, defaultModel, capabilities, headers } = this.#options;
    return await this.#options.create(protocol, {
      name,
      defaultModel,
      capabilities,
      baseUrl: api,
      token: async (signal) => (await this.#tokens.get(signal)).token,
      headers: {
        ...COPILOT_HEADERS,
        "openai-intent": "conversation-edits",
        "x-initiator": "user",
        ...(images ? { "copilot-vision-request": "true" } : {}),
        ...headers,
      },
      advice: {
        key: "the login (vis auth login github-copilot)",
        baseUrl: "the GitHub domain",
        model: "the model (vis models --provider github-copilot)",
      },
    });
  }
}
