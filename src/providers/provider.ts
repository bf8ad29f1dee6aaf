import { Buffer } from "node:buffer";
import type { Image } from "../domain/images.ts";
import { NO_USAGE, type WebSource } from "../domain/query/model_call.ts";
import type { Usage } from "../domain/query/query_schemas.ts";

/** `cache` marks the end of the stable prefix. */
export interface ModelMessage {
  readonly role: "system" | "user";
  readonly text: string;
  readonly cache?: boolean;
  /** Images come before the text. */
  readonly images?: readonly Image[];
}

export type ReasoningLevel = "quick" | "balanced" | "deep";

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly model: string;
  readonly reasoning: ReasoningLevel;
  /** If true, the call offers the model the web search of the service, if Vis knows that search. */
  readonly search?: boolean;
  readonly signal: AbortSignal;
  /** A provider on the network calls `onBytes` for bytes without text as well, because the bytes show that the service
   * is alive. */
  readonly onBytes?: () => void;
  /** The last reported usage counts even if the stream fails or the caller cancels. Null means that the call used no
   * tokens. */
  readonly onUsage?: (usage: Usage | null) => void;
}

export type ModelEvent =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  | {
    readonly type: "end";
    readonly usage: Usage;
    readonly model: string;
    /** The value is "stop", "length" if a limit ended the reply, or another word of the service. */
    readonly finish: string;
    readonly toolCall?: string;
    /** The service cited these pages, or found them without a citation, in this order. */
    readonly sources?: readonly WebSource[];
    /** `usage` leaves out impossible counts from the service, or has estimates in their place. These texts name the
     * counts for the log. */
    readonly oddities?: readonly string[];
  };

/** Prices of tokens are US dollars per million tokens. */
export interface Price extends Rates {
  /** The price is in US dollars for one web search by the service. By default, a search has no price of its own. */
  readonly search?: number;
  readonly above?: Rates & { readonly tokens: number };
}

interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Without this price, input that the service writes to its cache has the price of input. */
  readonly cacheWrite?: number;
}

export interface Capabilities {
  readonly nativeReasoning: boolean;
  /** If true, messages must alternate between user and assistant, or the model has no system role. */
  readonly alternatingRoles: boolean;
  readonly images: boolean;
  readonly search?: boolean;
  readonly contextTokens: number | null;
  readonly replyTokens?: number | null;
  readonly price: Price | null;
}

/** `stream` yields text and reasoning as they arrive, and one `end` at the end. `stream` throws `ProviderError` for a
 * failure, and `Cancelled` after `signal` aborts. The router waits and retries. */
export interface Provider {
  readonly name: string;
  readonly defaultModel: string;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  models(options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  capabilities(model: string): Capabilities;
}

export const UNKNOWN_MODEL: Capabilities = {
  nativeReasoning: false,
  alternatingRoles: false,
  images: false,
  contextTokens: null,
  price: null,
};

const BYTES_PER_TOKEN = 3.5;
const IMAGE_TOKENS = 1_600;

export function tokensInBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function estimatedUsage(messages: readonly ModelMessage[], reply: string): Usage {
  const output = tokensInBytes(Buffer.byteLength(reply));
  return { ...NO_USAGE, input: estimateTokens(messages), output, calls: 1, estimated: 1 };
}

export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce(
    (sum, { text, images }) => sum + tokensInBytes(Buffer.byteLength(text)) + (images?.length ?? 0) * IMAGE_TOKENS,
    0,
  );
}

export function ratesFor(price: Price, inputTokens: number): Rates {
  return price.above && inputTokens > price.above.tokens ? price.above : price;
}

export function costOf(usage: Usage, price: Price | null): number | null {
  if (price === null) return null;
  const rates = ratesFor(price, usage.input);
  const cached = Math.min(usage.cached, usage.input);
  const written = Math.min(usage.cacheWrite ?? 0, usage.input - cached);
  const input = (usage.input - cached - written) * rates.input + written * (rates.cacheWrite ?? rates.input);
  const tokens = (input + cached * rates.cached + usage.output * rates.output) / 1_000_000;
  return tokens + (usage.searches ?? 0) * (price.search ?? 0);
}
