import type { ApprovalRules } from "../domain/query/approval.ts";
import type { Environment } from "../environment/environment.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { IterationFrame } from "../iteration/iteration.ts";
import type { Log } from "../logging/log.ts";
import type { ProcessOwner } from "../persistence/store/query_store.ts";
import type { Store } from "../persistence/store/store.ts";
import type { ContextCaps } from "../prompt/context/context_parts.ts";
import type { PromptEnvironment } from "../prompt/system_prompt.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import type { ModelCalls } from "./ledger_calls.ts";
import type { QueryLimits } from "./limits.ts";
import type { Steering } from "./steering.ts";

/** The operator's settings for queries. */
export interface QuerySettings {
  /** Iterations that a query may use before it must request more. */
  readonly budget: number;
  readonly ceiling: number | null;
  readonly limits: QueryLimits;
  /** Reasoning level of every iteration; overrides the model's own choice. */
  readonly reasoning?: ReasoningLevel | null;
  /** Maximum depth of nested queries: 1 (default) to 5; 0 disables them. */
  readonly depth?: number;
  readonly deadlines: IterationFrame["deadlines"];
  readonly caps: ContextCaps;
  /** Number of queries after which a variable without a comment is forgotten; never if null or absent. */
  readonly autoForgetAfter?: number | null;
  /** "never": nobody is asked for more than an extension was granted. */
  readonly approvals?: "ask" | "never";
  /** The model that names a new conversation, or the criterion for choosing it; none if null or absent. */
  readonly titleModel?: string | null;
  /** The caller's instructions; "" if there are none. */
  readonly instructions: string;
  readonly machine: Omit<PromptEnvironment, "date">;
}

/** What a query is built from. The caller owns all of it. */
export interface QueryParts
  extends Pick<EnvironmentParts, "registry" | "openSandbox" | "spawn" | "programWalls" | "secrets" | "obeyedPaths"> {
  readonly environment: Environment;
  readonly store: Store;
  /** Throws `ConfigError` if no sandbox can be started. */
  readonly trySandbox?: () => void;
  readonly router: ModelCalls;
  readonly log: Log;
  readonly owner: ProcessOwner;
  readonly settings: QuerySettings;
  /** Lasting answers of the user; none count if absent. */
  readonly approvalRules?: ApprovalRules;
  readonly now: () => number;
  /** Messages that the user sends while the query runs. */
  readonly steering?: Steering;
  /** Resolves with notes for the next model call. The call waits for it, at most until the signal aborts. */
  readonly between?: (signal: AbortSignal) => Promise<readonly string[]>;
}
