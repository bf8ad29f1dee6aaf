import type { MatchOptions } from "./line_matcher.ts";
import type { Hit } from "./line_scanner.ts";

/** Text of a file. Pieces of one file arrive in order and are cut at line endings. */
export interface SearchPiece {
  readonly path: string;
  readonly text: string;
  readonly last: boolean;
}

/** A message to the search worker. */
export type SearchOrder =
  | {
    readonly type: "begin";
    readonly pattern: string;
    readonly options: MatchOptions;
    readonly context: number;
    /** How many hits are returned per file; further ones are counted. */
    readonly most: number;
  }
  | { readonly type: "pieces"; readonly pieces: readonly SearchPiece[] };

/** The answer to pieces: those of files whose last piece was among them, in order. */
export type SearchReply = readonly FileHits[];

export interface FileHits {
  readonly path: string;
  readonly hits: readonly Hit[];
  readonly more: number;
}
