/** Adjacent lines of the old text, and their replacement. */
export interface PatchHunk {
  /** 1-based line in the old text, if the patch contains one. */
  readonly line: number | null;
  /** Without the line feed, but with the carriage return that the patch has before it. */
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
  /** The mode that the patch sets: 0o100644 or 0o100755. */
  readonly mode: number | null;
  /** Whether it is about a symbolic link, whose text is its target. */
  readonly isLink: boolean;
  /** Whether `from` remains. */
  readonly isCopy: boolean;
  /** Whether the file is removed whatever is in it. */
  readonly isWhole: boolean;
  /** Number of the git diff that it belongs to; null outside of one. All parts of a diff start from the same tree. */
  readonly diff: number | null;
}
