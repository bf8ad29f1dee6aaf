import type { ActiveExtensions } from "../extension/registry/registry.ts";
import type { Branch } from "../persistence/store/conversation_store.ts";
import type { Store } from "../persistence/store/store.ts";
import type { BuiltinSource } from "./builtins.ts";
import { conversationCode, conversationHistory, varDiff, varHistory } from "./history/history.ts";
import type { VariableIndex } from "./variable_index.ts";

/** Variables and history of an environment, as the built-in functions see them. */
export function builtinSource(
  environment: {
    readonly index: VariableIndex;
    readonly store: Store;
    readonly branch: Branch;
    forget(names: readonly string[]): Promise<unknown>;
  },
  { restoreVar, active }: Pick<BuiltinSource, "restoreVar"> & {
    readonly active: () => Pick<ActiveExtensions, "doc" | "functions" | "off"> | null;
  },
): BuiltinSource {
  const at = () => ({ branchId: environment.branch.branchId });
  return {
    restoreVar,
    doc: (name) => active()?.doc(name) ?? null,
    extensions: () => ({ functions: active()?.functions ?? [], off: active()?.off ?? [] }),
    vars: () =>
      environment.index.all().map(({ name, kind, versions, scope, summary }) => {
        const { type, size, doc } = summary;
        return { name, kind, type, size, versions, scope, doc };
      }),
    varHistory: (name) => varHistory(environment.store, { ...at(), name }),
    varDiff: async (name, versions) => (await varDiff(environment.store, { ...at(), name, ...versions })).text,
    forget: (names) => environment.forget(names),
    conversationHistory: (count) => conversationHistory(environment.store, { ...at(), count }),
    conversationCode: (queryId) => conversationCode(environment.store, { ...at(), queryId }),
  };
}
