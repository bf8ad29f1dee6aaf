import { intrinsics } from "./intrinsics.ts";

/** Format 1 of the codec: `1 | segments | table (UTF-8 JSON) | length of the table, u32 LE`.
 *
 * The table is one flat JSON array of scalars: the root's slot, then one record for each object, breadth first.
 *
 * slot    number, boolean, null or a string that does not start with "~" mean themselves; "~~…" is the string
 *         "~…"; "~u" undefined, "~h" a hole, "~n" NaN, "~i" Infinity, "~j" -Infinity, "~0" -0, "~b<hex>" a BigInt,
 *         "~s<at>:<n>" UTF-8 and "~S<at>:<n>" UTF-16 text in the segments, "~" the next new object,
 *         "~@<index>" an earlier object.
 * record  "o", n, keys…, slots… object whose keys make a new shape ("q": with null prototype); "O", shape, slots… one
 *         more of a shape; "A", n, slots… array; "P", length, n, (key, slot)… sparse array; "M", n, (key, value)… Map;
 *         "E", n, slots… Set; "D", slot Date; "R", source, flags, lastIndex RegExp; "X", base, n, (key, slot,
 *         enumerable)… Error; "B", at, n ArrayBuffer; "V", name, offset, length, index of its buffer; "U", href URL.
 * after a record   "+", n, (key, slot)… further own properties; "C", name: instance of that class; "=", n, (key, slot,
 *         attributes)… properties that are hidden or read-only (bits: 1 writable, 2 enumerable, 4 configurable); "!",
 *         1 not extensible, 2 sealed, 3 frozen. */
export const FORMAT = 1;
/** Strings of at least this length are segments. */
export const LONG = 1024;
export const MAX_VALUE_DEPTH = 1000;
export const MAX_NODES = 5_000_000;
export const MAX_SLOTS = 32_000_000;
/** Maximum length of a sparse array: a loop over it in the main process must end. */
export const MAX_SPARSE = 5_000_000;

export type Slot = string | number | boolean | null;

export function isIndex(key: string): boolean {
  if (key.length === 0 || key.length > 10 || (key.length > 1 && intrinsics.charCodeAt(key, 0) === 48)) return false;
  for (let i = 0; i < key.length; i++) {
    const code = intrinsics.charCodeAt(key, i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** A value cannot be encoded, or bytes were not produced by `encode`. */
export class CodecError extends TypeError {
  override readonly name = "CodecError";
  /** What is wrong: the message without the action that failed. */
  readonly what: string;
  /** Path in the value, such as `.a[3].b`; "" for the value itself; null while decoding. */
  readonly path: string | null;
  /** True if only the size is the problem. */
  readonly tooLarge: boolean;
  constructor(
    { what, path, tooLarge = false }: {
      readonly what: string;
      readonly path: string | null;
      readonly tooLarge?: boolean;
    },
  ) {
    super(path === null ? `Cannot decode bytes: ${what}` : `Cannot encode value${path}: ${what}`);
    this.what = what;
    this.path = path;
    this.tooLarge = tooLarge;
  }
}
