import type { EnvironmentView } from "@vis/extension";
import type { Checkpoint, Checkpoints } from "../checkpoints/checkpoints.ts";
import type { FolderGuard } from "./folder_guard.ts";
import type { ReadLedger } from "./read_ledger.ts";
import type { Tree } from "../tree/tree.ts";

/** What every function of `fs` works with. */
export interface FsContext {
  /** Real path of the workspace. */
  readonly root: string;
  readonly tree: Tree;
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly guard: FolderGuard;
  /** Null if there is no folder to store them in. */
  readonly checkpoints: Checkpoints | null;
  /** What a change belongs to. */
  readonly source: Pick<Checkpoint, "conversationId" | "queryId" | "iterationId">;
  /** Tells the model something besides the result. */
  readonly note: (text: string) => void;
  readonly sourceFault: EnvironmentView["sourceFault"];
  /** Patterns of files that may hold keys. */
  readonly secrets: readonly string[];
  /** Asks the user; undefined where that is not possible. */
  readonly approve: EnvironmentView["approve"];
  /** Finds the paths that git or Vis later run or read as settings. */
  readonly obeyedPaths: EnvironmentView["obeyedPaths"];
  readonly signal: AbortSignal | undefined;
}
