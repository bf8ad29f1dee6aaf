import type { EnvironmentView } from "../extension/spec.ts";
import type { Branch } from "../persistence/store.ts";
import type { QueryScope } from "./query_scope.ts";

/** What an extension sees of an environment; calls to models only where there is a call that can be given up. */
export function environmentView(
  { envId, branch, depth, parentIterationId, iterationId }: {
    readonly envId: string;
    readonly branch: Branch;
    readonly depth: number;
    readonly parentIterationId?: string;
    readonly iterationId: string | null;
  },
  { scope, signal }: { readonly scope: QueryScope | null; readonly signal: AbortSignal | undefined },
): EnvironmentView {
  const { conversationId, workspace } = branch;
  const parent = parentIterationId === undefined ? {} : { parentIterationId };
  const base = { envId, conversationId, depth, workspace, ...parent };
  if (!scope) return base;
  const own = { signal: signal ?? scope.signal };
  const view = { ...base, ...own, maxIterations: scope.budget(), currentIterationId: iterationId };
  const { subcalls } = scope;
  if (!subcalls || !signal) return view;
  return {
    ...view,
    ask: (prompt, options) => subcalls.ask(prompt, { ...options, ...own }),
    runChild: (task, options) => subcalls.runChild(task, { ...options, ...own }),
  };
}
