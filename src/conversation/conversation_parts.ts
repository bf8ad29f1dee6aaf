import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { QueryParts } from "../query/query_parts.ts";
import type { LivingChildrenOptions } from "./living_children.ts";

/** What the conversation layer builds environments and queries from. */
export type ConversationParts =
  & Omit<EnvironmentParts, "branch">
  & Omit<QueryParts, "environment" | "store" | "log" | "now" | "steering">
  & {
    /** How many children may live, and for how long without a query. */
    readonly children?: Partial<Omit<LivingChildrenOptions, "onError">>;
  };
