import { FORMAT } from "./codec_format.ts";
import { intrinsics as own } from "./codec_intrinsics.ts";
import { hasValue } from "./codec_text.ts";

const MAX_ITEMS = 16, MAX_STRING = 128, MAX_TEXT = 256;
const TILDE = 126, LAST_ASCII = 127;

/** The bytes that the encoder makes, for a scalar or a short list of scalars: what most host calls take and give.
 * Null for everything else, which the encoder takes or refuses. */
export function quickEncode(value: unknown): Uint8Array<ArrayBuffer> | null {
  const text = typeof value === "object" && value !== null ? listText(value) : slotText(value);
  if (text === null || text.length > MAX_TEXT) return null;
  const length = text.length + 2;
  const bytes = new own.Uint8Array(length + 5);
  bytes[0] = FORMAT;
  bytes[1] = 91; // "["
  for (let i = 0; i < text.length; i++) {
    const code = own.charCodeAt(text, i);
    if (code > LAST_ASCII) return null;
    bytes[i + 2] = code;
  }
  bytes[length] = 93; // "]"
  bytes[length + 1] = length & 255;
  bytes[length + 2] = length >>> 8;
  return bytes;
}

function listText(value: object): string | null {
  if (!own.isArray(value) || own.isProxy(value) || own.prototypeOf(value) !== own.array) return null;
  const { length } = value;
  if (length > MAX_ITEMS || own.keys(value).length !== length) return null;
  let text = `"~","A",${length}`;
  for (let i = 0; i < length; i++) {
    const item = own.descriptorOf(value, i);
    const slot = hasValue(item) ? slotText(item.value) : null;
    if (slot === null) return null;
    text += `,${slot}`;
  }
  return text;
}

/** JSON of what stands for itself in the table. */
function slotText(value: unknown): string | null {
  switch (typeof value) {
    case "string":
      if (value.length > MAX_STRING || (value.length > 0 && own.charCodeAt(value, 0) === TILDE)) return null;
      return own.stringify(value);
    case "number":
      return value - value === 0 && (value !== 0 || 1 / value > 0) ? `${value}` : null;
    case "boolean":
      return value ? "true" : "false";
    default:
      return value === null ? "null" : null;
  }
}
