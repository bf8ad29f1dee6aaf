import type { VariableStore } from "../persistence/store/variable_store.ts";
import { findVersion } from "./history/history.ts";
import { notRestored } from "./missing_variable_notes.ts";
import type { SandboxSession } from "./sandbox_session.ts";
import type { ScopeChanges } from "./scope_changes.ts";

/** Makes a stored version current again in the child, and permanently once the iteration is stored. Throws Error if it
 * cannot be restored. */
export async function restoreVariable(
  { name, version }: { readonly name: string; readonly version: number | null },
  { store, branchId, session, scopes }: {
    readonly store: VariableStore;
    readonly branchId: string;
    readonly session: SandboxSession;
    readonly scopes: ScopeChanges;
  },
): Promise<{ name: string; version: number }> {
  const versions = await store.variableVersions(branchId, name);
  const found = findVersion(versions, { name, version, symbol: "restoreVar" });
  const [report] = await session.restore(found.image);
  if (report?.how === "lost") throw new Error(notRestored(found.image, report.reason));
  const older = found !== versions.at(-1) || session.unsaved(name) !== null;
  scopes.restore(name, { image: found.image, older });
  return { name, version: found.version };
}
