const MIN = 4 * 1024;
const MAX = 64 * 1024;
/** 14 bits must be zero at a boundary: pieces of about 20 KiB on average. These are the top bits, which depend on the
 * last 32 bytes; the low bits depend on the last few only. */
const MASK = 0xfffc0000;
const GEAR = gearTable();

/** Cuts bytes into pieces at boundaries that depend only on the bytes around them (a gear hash). An insertion or an
 * addition thus changes only the pieces near it. The pieces are views and join to the input. */
export function chunks(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = boundary(bytes, start);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}

function boundary(bytes: Uint8Array, start: number): number {
  const limit = Math.min(start + MAX, bytes.length);
  let hash = 0;
  // The window holds only the piece's own bytes long before MIN, so the 32 bytes before it suffice.
  for (let i = start + MIN - 32; i < limit; i++) {
    hash = ((hash << 1) + (GEAR[bytes[i] ?? 0] ?? 0)) >>> 0;
    if (i >= start + MIN && (hash & MASK) === 0) return i + 1;
  }
  return limit;
}

/** 256 fixed random words (xorshift32). They must never change, or pieces of old and new values would no longer
 * match. */
function gearTable(): Uint32Array {
  const table = new Uint32Array(256);
  let word = 0x9e3779b9;
  for (let i = 0; i < table.length; i++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    table[i] = word >>> 0;
  }
  return table;
}
