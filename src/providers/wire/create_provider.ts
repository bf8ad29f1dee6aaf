import type { Provider } from "../provider.ts";
import type { ProviderOptions, WireProtocol } from "../provider_options.ts";
import type { ProviderApi } from "./wire.ts";

/** Creates a provider for any service; only the requested wire format is loaded. Rejects with `ConfigError` for an
 * address or headers that cannot be used. No request is made. */
export async function createProvider(protocol: WireProtocol, options: ProviderOptions): Promise<Provider> {
  const [wire, { WireProvider }] = await Promise.all([
    WIRES[protocol](options.baseUrl),
    import("./wire_provider.ts"),
  ]);
  return new WireProvider(wire, options);
}

const WIRES: Readonly<Record<WireProtocol, (baseUrl: string) => Promise<ProviderApi>>> = {
  "openai-chat": async (baseUrl) => (await import("./openai_chat.ts")).openAiChat(baseUrl),
  "openai-responses": async (baseUrl) => (await import("./openai_responses.ts")).openAiResponses(baseUrl),
  "anthropic": async () => (await import("./anthropic.ts")).anthropic,
  "google": async () => (await import("./google.ts")).google,
};
