import type { ApprovalRules } from "../domain/query/approval.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { Environment } from "../environment/environment.ts";
import type { IterationFrame } from "../iteration/iteration.ts";
import type { Log } from "../logging/log.ts";
import type { FileChange } from "../domain/undo.ts";
import type { Branch, ProcessOwner, Store } from "../persistence/store.ts";
import type { ContextCaps } from "../prompt/context_message.ts";
import type { PromptEnvironment } from "../prompt/prompt.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import type { Router } from "../providers/router/router.ts";
import { type ModelPreference, type ModelRoute, namedRoutes, unpriced } from "../providers/router/routes.ts";
import type { Steering } from "./steering.ts";
import type { SandboxOptions } from "../sandbox/sandbox.ts";

export interface QuerySettings {
  readonly budget: number;
  readonly ceiling: number | null;
  /** If true, the budget extends itself up to the ceiling while iterations make progress. */
  readonly extending?: boolean;
  /** This ceiling limits the budget that a request sets; null sets no limit. */
  readonly operatorCeiling?: number | null;
  readonly limits: QueryLimits;
  readonly reasoning?: ReasoningLevel | null;
  /** Sub-queries have at most this depth, up to 5 (default: 1). With 0, a query runs no sub-query. */
  readonly depth?: number;
  readonly deadlines: IterationFrame["deadlines"];
  readonly caps: ContextCaps;
  /** With "never" and "locked", Vis does not ask the user, and refuses calls that need an approval and have none. */
  readonly approvals?: "ask" | "never" | "locked";
  readonly instructions: string;
  readonly machine: Omit<PromptEnvironment, "date">;
}

export const MAX_QUERY_DEPTH = 5;

export function maxDepth({ depth = 1 }: Pick<QuerySettings, "depth">): number {
  return Math.min(MAX_QUERY_DEPTH, depth);
}

export function withBudget(settings: QuerySettings, budget: number): QuerySettings {
  return { ...settings, budget, ceiling: settings.operatorCeiling ?? null, extending: false };
}

export interface QueryParts extends
  Pick<
    EnvironmentParts,
    | "registry"
    | "openSandbox"
    | "spawn"
    | "programWalls"
    | "networkScopes"
    | "secrets"
    | "repositoryRoot"
    | "obeyedPaths"
  > {
  readonly environment: Environment;
  readonly store: Store;
  readonly trySandbox?: (of: Pick<SandboxOptions, "granted" | "workspace">) => void;
  readonly router: ModelCalls;
  readonly log: Log;
  readonly owner: ProcessOwner;
  readonly settings: QuerySettings;
  readonly approvalRules?: ApprovalRules;
  readonly now: () => number;
  readonly steering?: Steering;
  readonly fileChanges?: ListFileChanges | undefined;
  /** The next model call waits for this function, so it must settle soon after an abort of the signal. */
  readonly between?: (signal: AbortSignal) => Promise<readonly string[]>;
}

type ListFileChanges = (
  of: Pick<Branch, "conversationId" | "workspace" | "tenant">,
) => Promise<readonly FileChange[] | null>;

/** The limits hold for a query and its sub-queries together; null sets no limit. */
export interface QueryLimits {
  readonly costUsd: number | null;
  readonly tokens: number | null;
  readonly wallMs: number | null;
  readonly subcalls?: number | null;
  /** If true, the cost counts towards a quota, so calls need a known price even without a cost limit. */
  readonly priced?: boolean;
}

export function needsPrice({ costUsd, priced = false }: Pick<QueryLimits, "costUsd" | "priced">): boolean {
  return priced || costUsd !== null;
}

export type ModelCalls = Pick<Router, "ask" | "current" | "routes">;

/** A preference gives the root model, because the router chooses a model for each call. */
export function chosenRoute(
  router: Pick<Router, "current" | "routes">,
  name: string | null,
): ReturnType<Router["current"]> {
  const root = router.current();
  if (name === null || isPreference(name)) return root;
  const [route = root] = namedRoutes([root, ...router.routes], name);
  return { ...route, capabilities: route.provider.capabilities(route.model) };
}

export const PREFERENCES: readonly ModelPreference[] = ["cost", "speed", "intelligence"];

export function isPreference(name: string): name is ModelPreference {
  return PREFERENCES.some((one) => one === name);
}

export function unpricedRoute(routes: readonly ModelRoute[], name: string | null): ModelRoute | null {
  const [root, ...others] = routes;
  if (root === undefined) return null;
  const prefer = name !== null && isPreference(name) ? name : null;
  return unpriced(name === null || prefer !== null ? routes : namedRoutes([root, ...others], name), { prefer });
}
