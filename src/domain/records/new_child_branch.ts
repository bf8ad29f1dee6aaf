import type { VariableImage } from "../query/variable.ts";

/** A branch below a conversation in which one child query runs. */
export interface NewChildBranch {
  /** The parent's branch. */
  readonly branchId: string;
  /** The iteration of the parent that called. */
  readonly iterationId: string;
  /** 1 for a child of a user's query. */
  readonly depth: number;
  readonly title: string;
  /** Variables that the child begins with. */
  readonly images: readonly VariableImage[];
  /** Names whose newest stored value it begins with, without reading them. */
  readonly copies: readonly string[];
}
