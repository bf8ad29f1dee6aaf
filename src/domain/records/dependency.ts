/** A variable, and one that the blocks which made it have read. */
export interface Dependency {
  readonly name: string;
  readonly reads: string;
}
