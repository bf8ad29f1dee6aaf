/** A block of an iteration that another child ran. */
export interface FormerResult {
  /** Codec bytes of the value; null if there was none or it could not be stored. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  /** What the value was, if it could not be stored; else "". */
  readonly held: string;
  readonly printed: string;
}

/** What `results` and `printed` hold in a child that replaces another one. */
export interface FormerResults {
  /** Rows of the last iteration, by index. */
  readonly shown: readonly FormerResult[];
  /** Rows of the running iteration, by index. */
  readonly running: readonly FormerResult[];
  /** The running iteration; -1 between two. */
  readonly iteration: number;
}
