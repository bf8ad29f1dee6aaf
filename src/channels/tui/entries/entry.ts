/** One part of the conversation, in lines. */
export interface TranscriptEntry {
  /** Lines of at most this many columns. Returns the same array if nothing changed. */
  lines(width: number): readonly string[];
  /** Discards everything drawn: colours or settings changed. */
  invalidate(): void;
  /** More of it is being loaded, so scrolling must not move past it yet. */
  readonly pending?: boolean;
  /** It is visible, or nearly: what it needs may be loaded. `above`: the entries before it are visible as well. */
  seen?(from: "above" | "below"): void;
}
