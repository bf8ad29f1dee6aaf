import type { Environment } from "../environment/environment.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { IterationFrame } from "../iteration/iteration.ts";
import type { Log } from "../logging/log.ts";
import type { ProcessOwner, Store } from "../persistence/store/store.ts";
import type { ContextCaps } from "../prompt/context/context_parts.ts";
import type { PromptEnvironment } from "../prompt/system_prompt.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import type { ModelCalls } from "./ledger_calls.ts";
import type { QueryLimits } from "./limits.ts";
import type { Steering } from "./steering.ts";

/** What the operator sets about queries. */
export interface QuerySettings {
  /** Iterations a query may use before it asks for more. */
  readonly budget: number;
  readonly ceiling: number | null;
  readonly limits: QueryLimits;
  /** Level of every iteration, in place of what the model asks for. */
  readonly reasoning?: ReasoningLevel | null;
  /** How deep queries may run inside queries: 1, the default, to 5; 0 for not at all. */
  readonly depth?: number;
  readonly deadlines: IterationFrame["deadlines"];
  readonly caps: ContextCaps;
  /** Queries after which a variable without a comment is forgotten; never where it is null or absent. */
  readonly autoForgetAfter?: number | null;
  /** The model that names a new conversation, or by what it is chosen; none does where it is null or absent. */
  readonly titleModel?: string | null;
  /** The caller's instructions, "" where there are none. */
  readonly instructions: string;
  readonly machine: Omit<PromptEnvironment, "date">;
}

/** What a query is built from; all of it belongs to the caller. */
export interface QueryParts extends Pick<EnvironmentParts, "registry" | "openSandbox" | "spawn"> {
  readonly environment: Environment;
  readonly store: Store;
  /** Throws `ConfigError` where no sandbox could be started. */
  readonly trySandbox?: () => void;
  readonly router: ModelCalls;
  readonly log: Log;
  readonly owner: ProcessOwner;
  readonly settings: QuerySettings;
  readonly now: () => number;
  /** What the user says while the query runs. */
  readonly steering?: Steering;
}
