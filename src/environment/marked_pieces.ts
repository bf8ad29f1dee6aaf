/** Bytes of the random number at the start of each piece. It makes a piece part of nothing else, so that it can be
 * removed without a look at everything that is stored. */
const MARK = 16;
const PIECE = 1 << 20;

/** Bytes in pieces of a megabyte, each behind a random number. */
export async function* markedPieces(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const size = bytes instanceof Uint8Array ? Math.min(bytes.length, PIECE) : PIECE;
  let piece = emptyPiece(size), end = MARK, any = false;
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < part.length;) {
      const some = part.subarray(at, at + piece.length - end);
      piece.set(some, end);
      at += some.length;
      end += some.length;
      if (end < piece.length) continue;
      yield piece;
      [piece, end, any] = [emptyPiece(size), MARK, true];
    }
  }
  if (end > MARK || !any) yield piece.slice(0, end);
}

/** The bytes that `markedPieces` was given. */
export async function* unmarkedPieces(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of pieces) yield piece.subarray(MARK);
}

function emptyPiece(size: number): Uint8Array<ArrayBuffer> {
  const piece = new Uint8Array(MARK + size);
  crypto.getRandomValues(piece.subarray(0, MARK));
  return piece;
}
