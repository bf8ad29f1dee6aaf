import type { SubCall } from "../../domain/query/model_call.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";
import type { NewChildBranch } from "../../domain/records/conversations.ts";
import type { Branch } from "./conversation_store.ts";

/** What the blocks of an iteration started: child queries and plain model calls. */
export interface ChildStore {
  /** Creates a branch that is not listed among the conversations. */
  createChildBranch(child: NewChildBranch): Promise<Branch>;
  /** The child queries that an iteration started, oldest first. */
  childQueries(iterationId: string): Promise<readonly (StoredQuery & { readonly depth: number })[]>;
  recordSubCall(call: SubCall): Promise<void>;
  /** Oldest first. */
  subCalls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]>;
}
