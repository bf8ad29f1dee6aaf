import { FORMAT } from "./codec_format.ts";
import { intrinsics as own } from "./codec_intrinsics.ts";

const MAX_BYTES = 512;
const TILDE = 126;

/** The value of bytes that hold a scalar or a list of scalars; undefined, which is none of them, for everything else:
 * the decoder takes or refuses that. */
export function quickDecode(bytes: Uint8Array<ArrayBuffer>): unknown {
  const size = own.viewLength(bytes);
  if (size < 6 || size > MAX_BYTES || bytes[0] !== FORMAT || !isTableAlone(bytes, size - 5)) return undefined;
  const slots = slotsOf(bytes, size - 5);
  if (!slots) return undefined;
  const { length } = slots;
  if (length === 1) return isScalar(slots[0]) ? slots[0] : undefined;
  if (slots[0] !== "~" || slots[1] !== "A" || slots[2] !== length - 3) return undefined;
  for (let i = 3; i < length; i++) if (!isScalar(slots[i])) return undefined;
  // The parser's own list: its items exist, so that storing them runs no setter that foreign code made.
  for (let i = 3; i < length; i++) slots[i - 3] = slots[i];
  slots.length = length - 3;
  return slots;
}

function isTableAlone(bytes: Uint8Array<ArrayBuffer>, text: number): boolean {
  const end = text + 1;
  return bytes[end] === (text & 255) && bytes[end + 1] === text >>> 8 && bytes[end + 2] === 0 && bytes[end + 3] === 0;
}

function slotsOf(bytes: Uint8Array<ArrayBuffer>, text: number): unknown[] | null {
  try {
    const table = new own.Uint8Array(own.viewBuffer(bytes) as ArrayBuffer, own.viewOffset(bytes) + 1, text);
    const slots = own.parse(own.utf8(table));
    return own.isArray(slots) ? slots : null;
  } catch {
    return null;
  }
}

/** Stands for itself in the table. */
function isScalar(slot: unknown): boolean {
  if (typeof slot === "string") return slot.length === 0 || own.charCodeAt(slot, 0) !== TILDE;
  return slot === null || typeof slot !== "object";
}
