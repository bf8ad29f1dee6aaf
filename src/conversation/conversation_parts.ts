import type { Emit } from "../domain/query/query_event.ts";
import type { QueryResult } from "../domain/query/query_result.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { QueryParts } from "../query/query_parts.ts";
import type { ChildPoolOptions } from "./child_pool.ts";

/** What the conversation layer builds environments and queries from. */
export type ConversationParts =
  & Omit<EnvironmentParts, "branch">
  & Omit<QueryParts, "environment" | "store" | "log" | "now" | "steering">
  & {
    /** Goes around every query once it has its branch, and may listen to it. */
    readonly around?: (emit: Emit, run: (emit: Emit) => Promise<QueryResult>) => Promise<QueryResult>;
    /** How many children may live, and for how long without a query. */
    readonly children?: Partial<Omit<ChildPoolOptions, "onError">>;
  };
