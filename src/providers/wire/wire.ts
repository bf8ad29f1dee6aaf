import type { Capabilities, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply_builder.ts";

export const EFFORT: Readonly<Record<ReasoningLevel, string>> = { quick: "low", balanced: "medium", deep: "high" };

export type JsonFields = Readonly<Record<string, unknown>>;

export interface WireCall {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonFields;
}

export interface CallFacts {
  readonly capabilities: Capabilities;
  readonly without: ReadonlySet<string>;
}

export interface ProviderApi {
  readonly api: string;
  authorize(token: string): Readonly<Record<string, string>>;
  request(request: ModelRequest, facts: CallFacts): WireCall;
  read(event: JsonFields, reply: ReplyBuilder): boolean;
  /** Returns the events of a body without a stream, or null if the body is not a reply. */
  unstreamed(body: unknown): readonly JsonFields[] | null;
  /** Returns the name of the field to omit after this error text, or null. */
  refused(text: string): string | null;
  modelsAt(page: string | null): Pick<WireCall, "path" | "query">;
  modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null;
}

export type WireProtocol = "openai-chat" | "openai-responses" | "anthropic" | "google";

export interface ProviderOptions {
  readonly name: string;
  /** The URL includes the version path if the service has one, as in https://api.openai.com/v1. */
  readonly baseUrl: string;
  /** "" and null mean no key. Vis calls a function before each model call and each list of models. The function may
   * reject with `ProviderError` of code "auth". */
  readonly token: string | ((signal: AbortSignal) => Promise<string | null>);
  readonly headers?: Readonly<Record<string, string>>;
  readonly defaultModel: string;
  readonly capabilities?: (model: string) => Capabilities;
  readonly advice?: Advice;
  /** After a complete reply, Vis waits at most this time for late counts (default 5 s). */
  readonly graceMs?: number;
  readonly now?: () => number;
}

export interface Advice {
  readonly key: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Names the variable of the proxy through which Vis reaches a server on this machine; otherwise "" or absent. */
  readonly proxy?: string;
}
