import { CodecError } from "./codec_error.ts";
import { MAX_SLOTS } from "./format.ts";
import { bareList, intrinsics as own } from "./intrinsics.ts";

const TILDE = 126, QUOTE = 34, BACKSLASH = 92, OPEN = 91, COMMA = 44, BRACE = 123;

export interface Shape {
  readonly keys: readonly string[];
  /** Whether the key can be stored by assignment: Object.prototype has no property of that name. */
  readonly safe: readonly boolean[];
  readonly bare: boolean;
}

export function badBytes(what: string): never {
  throw new CodecError({ what, path: null });
}

/** A cursor over the table and the segments of an encoding; every bound is checked. */
export class TableReader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #slots: readonly unknown[];
  readonly #size: number;
  readonly #tableStart: number;
  readonly #shapes = bareList<Shape>();
  #budget: number;
  at = 0;

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    { format, maxSlots = MAX_SLOTS * 2 }: { readonly format: number; readonly maxSlots?: number | undefined },
  ) {
    this.#size = own.viewLength(bytes);
    if (this.#size < 6 || bytes[0] !== format) badBytes(`format ${bytes[0]} is not ${format}`);
    const end = this.#size - 4;
    let size = 0;
    for (let i = 3; i >= 0; i--) size = size * 256 + bytes[end + i]!;
    if (size > end - 1) badBytes("the table is cut off");
    this.#bytes = bytes;
    this.#tableStart = end - size;
    this.#budget = this.#size;
    const table = this.#part(this.#tableStart, size);
    if (slotsIn(table, size) > maxSlots) badBytes("more values than allowed");
    const slots = own.parse(own.utf8(table));
    if (!own.isArray(slots) || slots.length === 0) badBytes("the table is not a list");
    this.#slots = slots;
  }

  get ended(): boolean {
    return this.at >= this.#slots.length;
  }

  /** The next slot, unchanged. */
  raw(): unknown {
    return this.at < this.#slots.length ? this.#slots[this.at++] : badBytes("the table ends early");
  }

  string(): string {
    const text = this.raw();
    return typeof text === "string" ? text : badBytes("a name that is not text");
  }

  int(): number {
    const n = this.raw();
    return typeof n === "number" && n >>> 0 === n ? n : badBytes("a wrong number");
  }

  /** A count that fits into the rest of the table, with `width` slots each. */
  count(width: number): number {
    const n = this.int();
    return n * width <= this.#slots.length - this.at ? n : badBytes("a wrong count");
  }

  skip(slots: number): void {
    if (slots > this.#slots.length - this.at) badBytes("the table ends early");
    this.at += slots;
  }

  /** A new shape on the first pass, the same one on the second. */
  newShape(bare: boolean): Shape {
    const keys = bareList<string>(), safe = bareList<boolean>();
    for (let n = this.count(1), i = 0; i < n; i++) {
      keys[i] = this.string();
      safe[i] = bare || !(keys[i]! in own.object);
    }
    const shape = { keys, safe, bare };
    this.#shapes[this.#shapes.length] = shape;
    return shape;
  }

  shape(): Shape {
    return this.#shapes[this.int()] ?? badBytes("an unknown shape");
  }

  forgetShapes(): void {
    this.#shapes.length = 0;
  }

  /** The value of a slot that does not refer to an object. */
  primitive(slot: unknown): unknown {
    if (typeof slot !== "string") {
      return slot === null || typeof slot !== "object" ? slot : badBytes("a nested list");
    }
    if (slot.length === 0 || own.charCodeAt(slot, 0) !== TILDE) return slot;
    switch (slot[1]) {
      case "~":
        return own.slice(slot, 1);
      case "u":
        return undefined;
      case "n":
        return NaN;
      case "i":
        return Infinity;
      case "j":
        return -Infinity;
      case "0":
        return -0;
      case "b":
        return bigInt(own.slice(slot, 2));
      case "s":
      case "S":
        return this.#text(slot);
      default:
        return badBytes("an unknown value");
    }
  }

  /** A copy of part of the segments. */
  copy(from: number, size: number): Uint8Array<ArrayBuffer> {
    this.#spend(size);
    const copy = new own.Uint8Array(size);
    own.bytesSet(copy, this.#part(from, size), 0);
    return copy;
  }

  #text(slot: string): string {
    const colon = own.indexOf(slot, ":");
    const from = own.Number(own.slice(slot, 2, colon)), size = own.Number(own.slice(slot, colon + 1));
    this.#spend(size);
    const part = this.#part(from, size);
    return slot[1] === "s" ? own.utf8(part) : utf16(part, size);
  }

  /** Limits the sum of all parts: overlapping parts would expand to more than the bytes contain. */
  #spend(size: number): void {
    this.#budget -= size;
    if (!(this.#budget >= 0)) badBytes("parts that overlap");
  }

  #part(from: number, size: number): Uint8Array<ArrayBuffer> {
    const end = from === this.#tableStart ? this.#size : this.#tableStart;
    if (!(from >= 0 && size >= 0 && from + size <= end)) badBytes("a part outside the bytes");
    const buffer = own.viewBuffer(this.#bytes) as ArrayBuffer;
    return new own.Uint8Array(buffer, own.viewOffset(this.#bytes) + from, size);
  }
}

function bigInt(hex: string): bigint {
  const negative = hex[0] === "-";
  const value = own.BigInt("0x" + (negative ? own.slice(hex, 1) : hex));
  return negative ? -value : value;
}

/** How many slots the table has, before anything is built from it. Allows one flat list only: "[[[[" or "{},{}," would
 * cost the reader many times the size of the bytes. */
function slotsIn(table: Uint8Array<ArrayBuffer>, length: number): number {
  let inText = false, slots = 1;
  for (let i = 1; i < length; i++) {
    const c = table[i];
    if (c === QUOTE) inText = !inText;
    else if (c === BACKSLASH && inText) i++;
    else if (inText) continue;
    else if (c === COMMA) slots++;
    else if (c === OPEN || c === BRACE) badBytes("a nested list");
  }
  return slots;
}

/** Not a TextDecoder, which would replace the lone surrogates that this form preserves. */
function utf16(bytes: Uint8Array<ArrayBuffer>, size: number): string {
  let text = "";
  for (let at = 0; at < size;) {
    const units = bareList<number>();
    for (; units.length < 8192 && at < size; at += 2) units[units.length] = bytes[at]! | (bytes[at + 1]! << 8);
    text += own.fromUnits(units);
  }
  return text;
}
