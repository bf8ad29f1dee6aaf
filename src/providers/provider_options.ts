import type { Advice } from "./advice.ts";
import type { Capabilities } from "./provider.ts";

/** The wire formats that are spoken. */
export type WireProtocol = "openai-chat" | "openai-responses" | "anthropic" | "google";

/** What any provider is made from, whatever its wire format. */
export interface ProviderOptions {
  /** Shown wherever an answer is. */
  readonly name: string;
  /** With its version path, such as https://api.openai.com/v1. */
  readonly baseUrl: string;
  /** Asked before each call, so that short-lived tokens can be renewed; null where the service wants none. May throw
   * `ProviderError` of kind auth. */
  readonly token: (signal: AbortSignal) => Promise<string | null>;
  /** Beside those of the protocol. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultModel: string;
  /** What is known of a model; `UNKNOWN_MODEL` is assumed where it is left out. */
  readonly capabilities?: (model: string) => Capabilities;
  /** Words made from `name` where it is left out. */
  readonly advice?: Advice;
  /** How long a connection may stay open after the reply has said why it ends, for the counts that may follow; 5 s where
   * it is left out. */
  readonly graceMs?: number;
  /** For dates in `retry-after`; the real time where it is left out. */
  readonly now?: () => number;
}
