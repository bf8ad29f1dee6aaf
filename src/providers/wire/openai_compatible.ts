import type { Advice } from "../advice.ts";
import { type Capabilities, type Provider, UNKNOWN_MODEL } from "../provider.ts";
import { openAiChat } from "./openai_chat.ts";
import { WireProvider } from "./wire_provider.ts";

export interface OpenAiCompatibleOptions {
  readonly name: string;
  /** With or without a trailing slash; credentials and query are sent but never shown. */
  readonly baseUrl: string;
  /** "" for servers that need none. */
  readonly apiKey: string;
  readonly defaultModel: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: Partial<Capabilities>;
  /** Replaces VIS_API_KEY, VIS_BASE_URL and VIS_MODEL. */
  readonly advice?: Partial<Advice>;
  /** As in `ProviderOptions`. */
  readonly graceMs?: number;
  /** For dates in `retry-after`. */
  readonly now?: () => number;
}

/** Any server that implements OpenAI's chat completions, with settings from variables. Throws `ConfigError` for an
 * address or key that cannot be used. */
export function openAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const { name, baseUrl, apiKey, defaultModel, headers, graceMs, now } = options;
  const capabilities = { ...UNKNOWN_MODEL, ...options.capabilities };
  const provider = new WireProvider(openAiChat(baseUrl), {
    name,
    baseUrl,
    token: () => Promise.resolve(apiKey),
    defaultModel,
    capabilities: () => capabilities,
    advice: { key: "VIS_API_KEY", baseUrl: "VIS_BASE_URL", model: "VIS_MODEL", ...options.advice },
    ...(headers ? { headers } : {}),
    ...(graceMs === undefined ? {} : { graceMs }),
    ...(now ? { now } : {}),
  });
  provider.checkKey(apiKey);
  return provider;
}
