/** Adjacent lines of the old text, and their replacement. */
export interface PatchHunk {
  /** 1-based line in the old text, if the patch contains one. */
  readonly line: number | null;
  /** Without line endings. */
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** Whether a line ending follows the last new line, if that is the last of the file; null if the patch does not say. */
  readonly ended: boolean | null;
}

/** What a patch does to one file. */
export interface PatchPart {
  /** Null for a new file. */
  readonly from: string | null;
  /** Null for a removed file. */
  readonly to: string | null;
  readonly hunks: readonly PatchHunk[];
  /** Permission bits set by the patch. */
  readonly mode: number | null;
}
