import type { Capabilities, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply_builder.ts";

export const EFFORT: Readonly<Record<ReasoningLevel, string>> = { quick: "low", balanced: "medium", deep: "high" };

export type JsonFields = Readonly<Record<string, unknown>>;

export interface WireCall {
  /** The path is relative to the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonFields;
}

export interface CallFacts {
  readonly capabilities: Capabilities;
  readonly without: ReadonlySet<string>;
}

/** The format has no state; the state of a reply is in the `ReplyBuilder`. */
export interface ProviderApi {
  readonly api: string;
  authorize(token: string): Readonly<Record<string, string>>;
  request(request: ModelRequest, facts: CallFacts): WireCall;
  /** Returns false if the event does not belong to this API. The caller handles events with an `error` itself. */
  read(event: JsonFields, reply: ReplyBuilder): boolean;
  /** The body arrived whole although Vis asked for a stream. Returns null if the body is no reply. */
  unstreamed(body: unknown): readonly JsonFields[] | null;
  /** Returns the name of the field to omit after the service refused a call with this text, or null. The provider
   * itself detects "stream". */
  refused(text: string): string | null;
  /** `page` is the `next` that `modelsIn` returned. */
  modelsAt(page: string | null): Pick<WireCall, "path" | "query">;
  /** Returns null if the body is not a list of models. */
  modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null;
}

export type WireProtocol = "openai-chat" | "openai-responses" | "anthropic" | "google";

export interface ProviderOptions {
  readonly name: string;
  /** An example is https://api.openai.com/v1, with the version path. */
  readonly baseUrl: string;
  /** The key is "" if the service needs none. Vis calls a function before each HTTP request, so that it can renew
   * short-lived tokens. The function resolves with null if the service needs no key, and may reject with
   * `ProviderError` of code "auth". */
  readonly token: string | ((signal: AbortSignal) => Promise<string | null>);
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultModel: string;
  readonly capabilities?: (model: string) => Capabilities;
  readonly advice?: Advice;
  /** After the end of the reply, a connection stays open for late counts, for at most this time (default 5 s). */
  readonly graceMs?: number;
  /** Dates in `retry-after` need a clock; by default, it is the real time. */
  readonly now?: () => number;
}

/** These parts of a sentence name the thing to check or set: a variable, or words like "the key of x". */
export interface Advice {
  readonly key: string;
  readonly baseUrl: string;
  readonly model: string;
}
