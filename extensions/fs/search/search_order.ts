import type { MatchOptions } from "./line_matcher.ts";
import type { Hit } from "./line_scanner.ts";

/** What the worker of searches is told. Pieces of one file follow each other and are cut at line ends. */
export type SearchOrder =
  | {
    readonly type: "begin";
    readonly pattern: string;
    readonly options: MatchOptions;
    readonly context: number;
    /** Hits that are sent back of each file; more are counted. */
    readonly most: number;
  }
  | {
    readonly type: "piece";
    readonly path: string;
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly last: boolean;
  };

/** The answer to each piece; hits come with the last one of a file. */
export interface SearchReply {
  readonly hits: readonly Hit[];
  readonly more: number;
}
