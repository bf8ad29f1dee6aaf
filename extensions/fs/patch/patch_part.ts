/** Lines that stand together in the old text and what they become. */
export interface PatchHunk {
  /** 1-based line of the old text, where the patch tells one. */
  readonly line: number | null;
  /** Without line ends. */
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** Whether a line end follows the last new line, where that is the last of the file; null where the patch does not
   * say. */
  readonly ended: boolean | null;
}

/** What a patch does to one file. */
export interface PatchPart {
  /** Null for a new file. */
  readonly from: string | null;
  /** Null for one that goes away. */
  readonly to: string | null;
  readonly hunks: readonly PatchHunk[];
  /** Permission bits that the patch names. */
  readonly mode: number | null;
}
