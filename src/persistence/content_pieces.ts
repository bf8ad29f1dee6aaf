import { Buffer } from "node:buffer";

/** One step from a base to a value: `length` bytes of the base starting at `from`, then `literal` bytes. */
type Step = readonly [from: number, length: number, literal: number];

/** The difference between a value and the value that it was made from. */
export interface Delta {
  readonly steps: readonly Step[];
  /** The literals of all steps, concatenated. */
  readonly literals: Uint8Array<ArrayBuffer>;
}

/** This many equal bytes count as the same place. */
const ANCHOR = 16;
/** How far behind a difference the base is searched: a few changed bytes, a changed entry, a removed one. */
const SKIPS = [0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256];
const MAX_STEPS = 24;

/** The difference, or null if it is not much smaller than the value. Finds additions and changes in a few places, which
 * is how a value typically changes from block to block. */
export function deltaOf(base: Uint8Array, value: Uint8Array): Delta | null {
  const from = view(base), to = view(value);
  const most = value.length >> 2;
  const steps: Step[] = [];
  const literals: Uint8Array[] = [];
  let spent = 0, i = 0, j = 0;
  while (j < to.length) {
    const equal = equalBytes(from, to, { i, j });
    i += equal, j += equal;
    const next = j < to.length ? anchorAfter(from, to, { i, j, within: most - spent }) : { i, j };
    const literal = next === null ? to.length - j : next.j - j;
    spent += literal;
    if (spent > most || steps.length === MAX_STEPS) return null;
    steps.push([i - equal, equal, literal]);
    literals.push(to.subarray(j, j + literal));
    j += literal;
    if (next) i = next.i;
  }
  return { steps, literals: new Uint8Array(Buffer.concat(literals)) };
}

/** Reconstructs the value. Throws RangeError if the steps do not fit the base. */
export function applyDelta(base: Uint8Array, { steps, literals }: Delta): Uint8Array<ArrayBuffer> {
  const value = new Uint8Array(steps.reduce((sum, [, length, literal]) => sum + length + literal, 0));
  let end = 0, at = 0;
  for (const [from, length, literal] of steps) {
    if (from + length > base.length || at + literal > literals.length) {
      throw new RangeError(`Cannot apply a difference: ${from} + ${length} of ${base.length} bytes`);
    }
    value.set(base.subarray(from, from + length), end);
    value.set(literals.subarray(at, at + literal), end + length);
    end += length + literal;
    at += literal;
  }
  return value;
}

function equalBytes(from: Buffer, to: Buffer, { i, j }: { readonly i: number; readonly j: number }): number {
  const most = Math.min(from.length - i, to.length - j);
  let equal = 0;
  // Compares long stretches at once, because comparing buffers is native.
  for (let step = 4096; step >= 64; step >>= 2) {
    while (equal + step <= most && same(from, to, { i: i + equal, j: j + equal, step })) equal += step;
  }
  while (equal < most && from[i + equal] === to[j + equal]) equal++;
  return equal;
}

function same(
  from: Buffer,
  to: Buffer,
  { i, j, step }: { readonly i: number; readonly j: number; readonly step: number },
): boolean {
  return from.subarray(i, i + step).equals(to.subarray(j, j + step));
}

/** Where both continue alike: the nearest place in the base after `i` that also occurs in the value after `j`. */
function anchorAfter(
  from: Buffer,
  to: Buffer,
  { i, j, within }: { readonly i: number; readonly j: number; readonly within: number },
): { readonly i: number; readonly j: number } | null {
  const window = to.subarray(j, j + within + ANCHOR);
  for (const skip of SKIPS) {
    const start = i + skip;
    if (start + ANCHOR > from.length) {
      // If the tail of the base is shorter than an anchor, it counts as one at the very end of the value.
      const tail = from.subarray(start);
      const at = to.length - tail.length;
      if (tail.length > 0 && at >= j && to.subarray(at).equals(tail)) return { i: start, j: at };
      continue;
    }
    const found = window.indexOf(from.subarray(start, start + ANCHOR));
    if (found >= 0) return { i: start, j: j + found };
  }
  return null;
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Parses the steps stored in `content.steps`. */
export function stepsOf(steps: string | null): Delta["steps"] {
  const list: unknown = JSON.parse(steps ?? "[]");
  if (!Array.isArray(list)) return [];
  return list.map((step: unknown) => {
    const [from, length, literal] = Array.isArray(step) ? step.map(Number) : [];
    return [from ?? 0, length ?? 0, literal ?? 0] as const;
  });
}

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
