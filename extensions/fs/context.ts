import type { EnvironmentView } from "@vis/extension";
import type { ReadLedger } from "./read_ledger.ts";

/** What every function of `fs` works with. */
export interface FsContext {
  /** Real path of the workspace. */
  readonly root: string;
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly signal: AbortSignal | undefined;
}

export function contextOf(env: EnvironmentView, ledger: ReadLedger): FsContext {
  return { root: env.workspace, conversationId: env.conversationId, ledger, signal: env.signal };
}
