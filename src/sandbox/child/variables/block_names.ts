import type { Declaration } from "../rewrite/declarations.ts";

/** What a block said about names: the part of a prepared block that matters here. */
export interface BlockNames {
  readonly declarations: readonly Declaration[];
  readonly assigned?: readonly Declaration[];
  readonly reads: readonly string[];
}
