import type { Declaration } from "../rewrite/declarations.ts";

/** What a block contains about names: the relevant part of a prepared block. */
export interface BlockNames {
  readonly declarations: readonly Declaration[];
  readonly assigned?: readonly Declaration[];
  readonly reads: readonly string[];
}
