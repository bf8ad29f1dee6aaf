import type { Image } from "../domain/images/image.ts";
import type { NewConversation } from "../domain/records/new_conversation.ts";
import type { NewFork } from "../domain/records/new_fork.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { KeyedRequest } from "../domain/query/request_key.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type { VariableSource } from "../environment/input/variable_source.ts";
import type { Branch } from "../persistence/store/store.ts";

/** Where a request is asked: in a branch, in a new one from a point of another, or in a new conversation, whose title the
 * request gives. What is new is made once the request is found good. */
export type AskTarget = Branch | NewFork | Pick<NewConversation, "channel" | "workspace">;

/** What comes with a request beside its text, and who hears of its query. */
export interface AskOptions extends KeyedRequest {
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Called with the branch that the query runs in, before it begins. */
  readonly onBranch?: (branch: Branch) => Promise<void> | void;
  /** Refuse with `BusyError` instead of waiting when a query runs in this conversation. */
  readonly refuseWhenBusy?: boolean;
  readonly label?: string;
  /** Go with the request; at most 20 of 5 MB each. */
  readonly images?: readonly Image[];
  /** Becomes the variable `context`: the model sees its type, its size and how it begins. */
  readonly context?: VariableSource;
  /** Further variables by name, told of in the same way. */
  readonly variables?: Readonly<Record<string, VariableSource>>;
  /** What another run of the same query was given. */
  readonly given?: readonly VariableImage[];
  /** What the caller wants of every answer of this query; the configured ones where it is left out. */
  readonly instructions?: string;
  /** A JSON Schema as data: the answer must satisfy it, and is then also in `value` of the result. */
  readonly responseSchema?: unknown;
  /** Iterations the query may use before it asks for more; the configured number where it is left out. */
  readonly maxIterations?: number;
}
