import type { Dependency, VariableImage, VariableSummary } from "../../domain/query/variable.ts";
import type { BranchPoint } from "../../domain/records/conversations.ts";

/** The newest version of a variable of a branch, without its value. */
export interface VariableHead {
  readonly name: string;
  readonly kind: VariableImage["kind"];
  /** Number of versions. The model sees it as `v3`. */
  readonly versions: number;
  readonly scope: "live" | "forgotten" | "system";
  readonly summary: VariableSummary;
  readonly reason: string;
  /** The block that defined the variable. */
  readonly code: string;
  readonly createdAt: number;
}

export interface VariableVersion {
  /** 1-based. */
  readonly version: number;
  /** For a system variable, `source` is its text and `bytes` is empty. */
  readonly image: VariableImage;
  readonly code: string;
  readonly createdAt: number;
}

/** The variables of a branch, and what they were made from. */
export interface VariableStore {
  /** Every variable of the branch, newest first, system variables included. With `at`, as a fork at that moment would
   * see them. */
  variables(branchId: string, at?: BranchPoint): Promise<readonly VariableHead[]>;
  /** For each variable, the variables of the branch that the blocks that made it have read. */
  dependencies(branchId: string): Promise<readonly Dependency[]>;
  /** Newest versions of the live user variables, in the order in which they must be restored. */
  liveImages(branchId: string, at?: BranchPoint): Promise<readonly VariableImage[]>;
  /** The variables that a run received as input, in that order. */
  givenImages(queryId: string): Promise<readonly VariableImage[]>;
  /** Oldest first: all versions, or the `newest` ones. Empty if no variable has that name. */
  variableVersions(
    branchId: string,
    name: string,
    options?: { readonly newest?: number; readonly at?: BranchPoint },
  ): Promise<readonly VariableVersion[]>;
  /** Changes the scope at the newest moment of the branch. If `queryId` is set, that run makes the change. */
  setScope(
    branchId: string,
    change: { readonly names: readonly string[]; readonly scope: "live" | "forgotten"; readonly queryId?: string },
  ): Promise<void>;
}
