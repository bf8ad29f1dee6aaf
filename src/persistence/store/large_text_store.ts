/** Texts that are too large to be read at once. */
export interface LargeTextStore {
  /** Stores UTF-8 text piece by piece. Returns the reference that names it from then on. */
  putLarge(pieces: AsyncIterable<Uint8Array>): Promise<string>;
  /** The pieces in order, each read on demand. */
  largePieces(large: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
}
