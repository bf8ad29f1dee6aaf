import type { Capabilities, ModelRequest } from "../provider.ts";
import type { ReplyBuilder } from "./reply.ts";

export type JsonFields = Readonly<Record<string, unknown>>;

/** One request as a service wants it. */
export interface WireCall {
  /** Under the base URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonFields;
}

export interface CallFacts {
  /** Of the model. */
  readonly capabilities: Capabilities;
  /** Names that `Wire.refused` gave for this model. */
  readonly without: ReadonlySet<string>;
}

/** How one API writes requests and replies. Has no state: that of a reply is in the `ReplyBuilder`. */
export interface ProviderApi {
  /** Shown in errors, such as "the chat completions API". */
  readonly api: string;
  /** Headers that carry a key. */
  authorize(token: string): Readonly<Record<string, string>>;
  request(request: ModelRequest, facts: CallFacts): WireCall;
  /** Takes one event of a stream; false where it is none of this API. Events with an `error` do not get here. */
  read(event: JsonFields, reply: ReplyBuilder): boolean;
  /** The events that a reply amounts to which came whole although a stream was asked for; null for no reply. */
  unstreamed(body: unknown): readonly JsonFields[] | null;
  /** What to leave out of the request after the service refused it with this text; null for nothing of it. */
  refused(text: string): string | null;
  /** Where models are listed; `page` is what `modelsIn` gave as `next`. */
  modelsAt(page: string | null): Pick<WireCall, "path" | "query">;
  /** Null for what is no list of models. */
  modelsIn(body: unknown): { readonly ids: readonly string[]; readonly next: string | null } | null;
}
