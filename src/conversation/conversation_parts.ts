import type { Emit } from "../domain/query/query_event.ts";
import type { QueryResult } from "../domain/query/query_result.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { QueryParts } from "../query/query_parts.ts";
import type { QueryRunner } from "./query_runner.ts";
import type { SharedQueries } from "./shared_queries.ts";
import type { ChildPoolOptions } from "./child_pool.ts";

/** Dependencies of the conversation layer for environments and queries. */
export type ConversationParts =
  & Omit<EnvironmentParts, "branch">
  & Omit<QueryParts, "environment" | "store" | "log" | "now" | "steering" | "between">
  & {
    /** Makes this process one of several nodes; it runs queries with `runner`. */
    readonly shared?: (runner: QueryRunner) => SharedQueries;
    /** Wraps every query once it has its branch, and may listen to its events. What it passes as `between` is asked
     * before each model call. */
    readonly around?: (
      emit: Emit,
      run: (emit: Emit, between?: QueryParts["between"]) => Promise<QueryResult>,
    ) => Promise<QueryResult>;
    /** Limits for idle children: their number and their lifetime. */
    readonly children?: Partial<Omit<ChildPoolOptions, "onError">>;
  };
