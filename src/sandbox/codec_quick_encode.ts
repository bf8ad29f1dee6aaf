import { FORMAT } from "./codec_format.ts";
import { bareList, intrinsics as own } from "./codec_intrinsics.ts";
import { hasValue } from "./codec_text.ts";

const MAX_ITEMS = 16, MAX_STRING = 128, MAX_TEXT = 256;
const TILDE = 126, LAST_ASCII = 127;

/** The bytes that the encoder makes, for a scalar or a short list of scalars: what most host calls take and give.
 * Null for everything else, which the encoder takes or refuses. */
export function quickEncode(value: unknown): Uint8Array<ArrayBuffer> | null {
  const slots = bareList<unknown>();
  if (isScalar(value)) slots[0] = value;
  else if (typeof value !== "object" || value === null || !addItems(slots, value)) return null;
  const text = own.stringify(slots);
  const { length } = text;
  if (length > MAX_TEXT) return null;
  const bytes = new own.Uint8Array(length + 5);
  bytes[0] = FORMAT;
  for (let i = 0; i < length; i++) {
    const code = own.charCodeAt(text, i);
    if (code > LAST_ASCII) return null;
    bytes[i + 1] = code;
  }
  bytes[length + 1] = length & 255;
  bytes[length + 2] = length >>> 8;
  return bytes;
}

function addItems(slots: unknown[], value: object): boolean {
  if (!own.isArray(value) || own.isProxy(value) || own.prototypeOf(value) !== own.array) return false;
  const { length } = value;
  if (length > MAX_ITEMS || own.keys(value).length !== length) return false;
  slots[0] = "~";
  slots[1] = "A";
  slots[2] = length;
  for (let i = 0; i < length; i++) {
    const item = own.descriptorOf(value, i);
    if (!hasValue(item) || !isScalar(item.value)) return false;
    slots[i + 3] = item.value;
  }
  return true;
}

/** Stands for itself in the table. */
function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case "string":
      return value.length <= MAX_STRING && (value.length === 0 || own.charCodeAt(value, 0) !== TILDE);
    case "number":
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    case "boolean":
      return true;
    default:
      return value === null;
  }
}
