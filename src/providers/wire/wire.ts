import type { Capabilities, ModelRequest, ReasoningLevel } from "../provider.ts";
import type { ReplyBuilder } from "./reply.ts";

/** The names that most services use for the levels. */
export const EFFORT: Readonly<Record<ReasoningLevel, string>> = { quick: "low", balanced: "medium", deep: "high" };

export type JsonFields = Readonly<Record<string, unknown>>;

/** One request in a service's format. */
export interface WireCall {
  /** Relative to the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonFields;
}

export interface CallFacts {
  /** Capabilities of the model. */
  readonly capabilities: Capabilities;
  /** Names that `ProviderApi.refused` returned for this model. */
  readonly without: ReadonlySet<string>;
}

/** How one API formats requests and replies. It has no state: the state of a reply is in the `ReplyBuilder`. */
export interface ProviderApi {
  /** Shown in errors, such as "the chat completions API". */
  readonly api: string;
  /** Headers that contain a key. */
  authorize(token: string): Readonly<Record<string, string>>;
  request(request: ModelRequest, facts: CallFacts): WireCall;
  /** Reads one event of a stream; false if it does not belong to this API. Events with an `error` are not passed to
   * it. */
  read(event: JsonFields, reply: ReplyBuilder): boolean;
  /** The equivalent events for a reply that came whole although a stream was requested; null if it is not a reply. */
  unstreamed(body: unknown): readonly JsonFields[] | null;
  /** The name of what to leave out of the request after the service refused it with this text; null if nothing.
   * "stream" is found for all of them. */
  refused(text: string): string | null;
  /** Where models are listed; `page` is the `next` that `modelsIn` returned. */
  modelsAt(page: string | null): Pick<WireCall, "path" | "query">;
  /** Null if it is not a list of models. */
  modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null;
}
