import type { MatchOptions } from "./line_matcher.ts";
import type { Hit } from "./line_scanner.ts";

/** A message to the search worker. Pieces of one file arrive in order and are cut at line endings. */
export type SearchOrder =
  | {
    readonly type: "begin";
    readonly pattern: string;
    readonly options: MatchOptions;
    readonly context: number;
    /** How many hits are returned per file; further ones are counted. */
    readonly most: number;
  }
  | {
    readonly type: "piece";
    readonly path: string;
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly last: boolean;
  };

/** The answer to each piece; hits are included with the last piece of a file. */
export interface SearchReply {
  readonly hits: readonly Hit[];
  readonly more: number;
}
