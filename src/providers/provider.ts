import type { Image } from "../domain/images/image.ts";
import type { Usage } from "../domain/query/usage.ts";

/** One message as every provider understands it. `cache` marks the end of the stable prefix. */
export interface ModelMessage {
  readonly role: "system" | "user";
  readonly text: string;
  readonly cache?: boolean;
  /** Stand before the text. Only for models whose capabilities say so; the others refuse them before the call. */
  readonly images?: readonly Image[];
}

export type ReasoningLevel = "quick" | "balanced" | "deep";

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly model: string;
  /** Ignored by models without native reasoning. */
  readonly reasoning: ReasoningLevel;
  readonly signal: AbortSignal;
}

export type ModelEvent =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  | {
    readonly type: "end";
    readonly usage: Usage;
    readonly model: string;
    /** "stop"; "length" where the reply was cut at the longest that the model writes; others as services say them. */
    readonly finish: string;
    /** Counts of the service that no call can have, which `usage` leaves out; for the log. */
    readonly oddities?: readonly string[];
  };

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Of input that is written to the cache; that of input where it is left out. */
  readonly cacheWrite?: number;
}

export interface Capabilities {
  /** The model returns its own reasoning, so that replies need no `thinking`. */
  readonly nativeReasoning: boolean;
  /** Messages must alternate between user and assistant, or there is no system role. */
  readonly alternatingRoles: boolean;
  readonly images: boolean;
  /** Tokens of context, null where unknown. */
  readonly contextTokens: number | null;
  /** Tokens of the longest reply, where known. */
  readonly replyTokens?: number | null;
  /** Null where unknown. */
  readonly price: Price | null;
}

/** A source of model replies. `stream` yields text and reasoning as they arrive and exactly one `end`, last; it
 * throws `ProviderError` for anything the service or the network does, and `Cancelled` once `signal` is aborted
 * (before, during and after the first token; the connection is then closed). It retries nothing, but asks again at
 * once without an optional field of the request that the service refused to know. */
export interface Provider {
  /** Shown wherever an answer is: "openai-compatible", "demo", … */
  readonly name: string;
  /** The model used where none is asked for. */
  readonly defaultModel: string;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
  models(options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  capabilities(model: string): Capabilities;
}

/** What is assumed of a model that nothing is known about. */
export const UNKNOWN_MODEL: Capabilities = {
  nativeReasoning: false,
  alternatingRoles: false,
  images: false,
  contextTokens: null,
  price: null,
};
