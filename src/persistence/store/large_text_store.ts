/** Texts and other bytes that are too large to be read at once. */
export interface LargeTextStore {
  /** Stores bytes piece by piece. Returns the reference that names them from then on. They are kept until the variable
   * that has them is stored, for a day at most. With `isOwn`, each piece begins with a random number: no other text has
   * it, and it is kept anyway. */
  putLarge(pieces: AsyncIterable<Uint8Array>, options?: { readonly isOwn?: boolean }): Promise<string>;
  /** The same pieces in order, each read on demand. */
  largePieces(large: string): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Removes bytes of which no piece is part of anything else, as when each piece begins with a random number. Does
   * nothing if they are gone. */
  dropLarge(large: string): Promise<void>;
}
