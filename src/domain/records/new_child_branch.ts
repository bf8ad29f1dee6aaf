import type { VariableImage } from "../query/variable.ts";

/** A branch below a conversation in which one child query runs. */
export interface NewChildBranch {
  /** The parent's branch. */
  readonly branchId: string;
  /** The iteration of the parent that started it. */
  readonly iterationId: string;
  /** 1 for a child of a user's query. */
  readonly depth: number;
  readonly title: string;
  /** Variables that the child starts with. */
  readonly images: readonly VariableImage[];
  /** Names whose newest stored value it starts with; the values are not read. */
  readonly copies: readonly string[];
}
