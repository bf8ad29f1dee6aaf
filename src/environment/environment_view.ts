import type { EnvironmentView } from "../extension/spec.ts";
import type { Branch, Store } from "../persistence/store.ts";
import type { ConversationPrograms } from "./conversation_programs.ts";
import type { EnvironmentParts } from "./environment_parts.ts";
import type { QueryScope } from "./query_scope.ts";
import { StoredHistory } from "./stored_history.ts";

/** What an extension sees of an environment; calls to models only where there is a call that can be given up. */
export function environmentView(
  { envId, branch, depth, parentIterationId, iterationId, store, spawn }: {
    readonly envId: string;
    readonly branch: Branch;
    readonly depth: number;
    readonly parentIterationId?: string;
    readonly iterationId: string | null;
    readonly store: Store;
    readonly spawn?: EnvironmentParts["spawn"];
  },
  { scope, signal, programs }: {
    readonly scope: QueryScope | null;
    readonly signal: AbortSignal | undefined;
    readonly programs: ConversationPrograms;
  },
): EnvironmentView {
  const { conversationId, workspace } = branch;
  const parent = parentIterationId === undefined ? {} : { parentIterationId };
  const { closed } = programs;
  const base = { envId, conversationId, depth, workspace, closed, db: new StoredHistory(store), ...parent };
  if (!scope) return base;
  const own = { signal: signal ?? scope.signal };
  const view = { ...base, ...own, maxIterations: scope.budget(), currentIterationId: iterationId };
  const { subcalls } = scope;
  if (!signal) return view;
  const started = spawn ? { spawn: programs.bind(spawn, { workspace, signal }) } : {};
  if (!subcalls) return { ...view, ...started };
  return {
    ...view,
    ...started,
    ask: (prompt, options) => subcalls.ask(prompt, { ...options, ...own }),
    runChild: (task, options) => subcalls.runChild(task, { ...options, ...own }),
  };
}
