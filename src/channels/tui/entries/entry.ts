/** One part of what was said and done, in lines. */
export interface TranscriptEntry {
  /** Lines of at most this many columns. The same array as before where nothing changed. */
  lines(width: number): readonly string[];
  /** Nothing that was drawn is good any more: colours or settings changed. */
  invalidate(): void;
  /** More of it is on its way: nobody wants to be past it before that is here. */
  readonly pending?: boolean;
  /** It is seen, or nearly: what it needs may be fetched. `above`: what stands before it is seen as well. */
  seen?(from: "above" | "below"): void;
}
