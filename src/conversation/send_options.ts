import type { Image } from "../domain/images/image.ts";
import type { NewConversation } from "../domain/records/new_conversation.ts";
import type { NewFork } from "../domain/records/new_fork.ts";
import type { Approve } from "../domain/query/approval.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { KeyedRequest } from "../domain/query/request_key.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type { VariableSource } from "../environment/input_variables.ts";
import type { QueryLimits } from "../query/query_parts.ts";
import type { Branch } from "../persistence/store/conversation_store.ts";
import type { Asked } from "../persistence/store/query_store.ts";

/** Where a request is sent: to a branch, to a new one from a point of another, or to a new conversation, whose title is
 * the request. New ones are created once the request is validated. */
export type AskTarget = Branch | NewFork | Pick<NewConversation, "channel" | "workspace">;

/** Options of a request besides its text, and listeners of its query. */
export interface AskOptions extends KeyedRequest {
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Called with the branch that the query runs in, before it begins. */
  readonly onBranch?: (branch: Branch) => Promise<void> | void;
  /** Asks the user what extensions request; without it nobody can be asked, and the answer is no. */
  readonly approve?: Approve | undefined;
  /** Reject with `BusyError` instead of waiting when a query runs in this conversation. */
  readonly refuseWhenBusy?: boolean;
  readonly label?: string | undefined;
  /** Images of the request; at most 20 of 5 MB each. */
  readonly images?: readonly Image[] | undefined;
  /** Becomes the variable `context`: the model sees its type, its size and its beginning. */
  readonly context?: VariableSource | undefined;
  /** Further variables by name, shown to the model in the same way. */
  readonly variables?: Readonly<Record<string, VariableSource>> | undefined;
  /** The input of another run of the same query. */
  readonly given?: readonly VariableImage[];
  /** Instructions for every answer of this query; the configured ones if omitted. */
  readonly instructions?: string | undefined;
  /** Makes a plan: calls that could change something are refused, and the answer says what would be done. */
  readonly plan?: boolean | undefined;
  /** A JSON Schema as data: the answer must satisfy it, and is then also available in `value` of the result. */
  readonly responseSchema?: unknown;
  readonly askedAs?: Asked | undefined;
  /** Iterations the query may use before it asks for more; the configured number if omitted. */
  readonly maxIterations?: number | undefined;
  /** The model that serves it, such as "anthropic/claude-sonnet-5"; the configured one if omitted. */
  readonly model?: string | undefined;
  /** Lower than the configured limits; higher ones have no effect. */
  readonly limits?: Pick<QueryLimits, "costUsd" | "wallMs" | "priced"> | undefined;
}
