/** A variable, and another one that the blocks that defined it have read. */
export interface Dependency {
  readonly name: string;
  readonly reads: string;
}
