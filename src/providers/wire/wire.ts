import type { Capabilities, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply.ts";

/** The names that most services use for the levels. */
export const EFFORT: Readonly<Record<ReasoningLevel, string>> = { quick: "low", balanced: "medium", deep: "high" };

export type JsonFields = Readonly<Record<string, unknown>>;

/** A request in a service's format. */
export interface WireCall {
  /** The path, relative to the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonFields;
}

export interface CallFacts {
  /** The capabilities of the model. */
  readonly capabilities: Capabilities;
  /** Names that `ProviderApi.refused` returned for this model. */
  readonly without: ReadonlySet<string>;
}

/** The format of requests and replies in one API. It has no state: the state of a reply is in the `ReplyBuilder`. */
export interface ProviderApi {
  /** The name in errors, such as "the chat completions API". */
  readonly api: string;
  /** Returns the headers that contain a key. */
  authorize(token: string): Readonly<Record<string, string>>;
  request(request: ModelRequest, facts: CallFacts): WireCall;
  /** Reads one event of a stream; false if it does not belong to this API. Events with an `error` are not passed to
   * it. */
  read(event: JsonFields, reply: ReplyBuilder): boolean;
  /** Returns the equivalent events for a reply that came whole although a stream was requested; null if it is not a
   * reply. */
  unstreamed(body: unknown): readonly JsonFields[] | null;
  /** Returns the name of the field to omit after the service refused the request with this text; null if none. "stream"
   * is detected for all of them. */
  refused(text: string): string | null;
  /** Returns the call that lists models; `page` is the `next` that `modelsIn` returned. */
  modelsAt(page: string | null): Pick<WireCall, "path" | "query">;
  /** Returns null if it is not a list of models. */
  modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null;
}

/** The supported wire formats. */
export type WireProtocol = "openai-chat" | "openai-responses" | "anthropic" | "google";

/** Options of every provider, whatever its wire format. */
export interface ProviderOptions {
  /** The name shown with every answer. */
  readonly name: string;
  /** The address, including the version path, for example https://api.openai.com/v1. */
  readonly baseUrl: string;
  /** The key, "" if the service needs none. A function is called before each request, so that short-lived tokens can be
   * renewed; it returns null if the service needs no key. It may throw `ProviderError` of kind auth. */
  readonly token: string | ((signal: AbortSignal) => Promise<string | null>);
  /** Headers in addition to the protocol's own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultModel: string;
  /** The capabilities of a model; by default `UNKNOWN_MODEL`. */
  readonly capabilities?: (model: string) => Capabilities;
  /** By default, words made from `name`. */
  readonly advice?: Advice;
  /** A connection may stay open this long after the reply has stated why it ends, for late counts; default 30 s. */
  readonly graceMs?: number;
  /** The clock for dates in `retry-after`; by default the real time. */
  readonly now?: () => number;
}

/** Parts of a sentence that name what the user should check or set: a variable, or words like "the key of x". */
export interface Advice {
  readonly key: string;
  readonly baseUrl: string;
  readonly model: string;
}
