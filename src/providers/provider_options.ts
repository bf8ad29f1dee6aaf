import type { Advice } from "./advice.ts";
import type { Capabilities } from "./provider.ts";

/** The supported wire formats. */
export type WireProtocol = "openai-chat" | "openai-responses" | "anthropic" | "google";

/** Options of every provider, whatever its wire format. */
export interface ProviderOptions {
  /** Shown with every answer. */
  readonly name: string;
  /** Includes the version path, for example https://api.openai.com/v1. */
  readonly baseUrl: string;
  /** The key, "" if the service needs none; or called before each request, so that short-lived tokens can be renewed:
   * null if the service needs none. May throw `ProviderError` of kind auth. */
  readonly token: string | ((signal: AbortSignal) => Promise<string | null>);
  /** In addition to those of the protocol. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultModel: string;
  /** Capabilities of a model; defaults to `UNKNOWN_MODEL`. */
  readonly capabilities?: (model: string) => Capabilities;
  /** Defaults to words made from `name`. */
  readonly advice?: Advice;
  /** How long a connection may stay open after the reply has stated why it ends, for the counts that may follow;
   * default 30 s. */
  readonly graceMs?: number;
  /** For dates in `retry-after`; defaults to the real time. */
  readonly now?: () => number;
}
