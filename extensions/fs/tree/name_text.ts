const NOT_TEXT = 0xfffd;
const MARK = "\ufffd";
const ESCAPED = /\ufffd([89A-F][0-9A-F])/g;
const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a file's name. Linux permits any bytes in it: one that is not UTF-8 becomes U+FFFD and two hexadecimal
 * digits (`caf\ufffdE9.txt`), from which `nameBytes` makes the same byte again. */
export function nameText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = strict.decode(bytes);
    if (!text.includes(MARK)) return text;
  } catch {
    text = decoder.decode(bytes);
  }
  // A name of which the text is no escape stays as it is.
  if (sameBytes(nameBytes(text), bytes)) return text;
  return escaped(bytes);
}

/** The bytes of a name or path. */
export function nameBytes(text: string): Uint8Array<ArrayBuffer> {
  if (!text.includes(MARK)) return encoder.encode(text);
  const parts: number[] = [];
  let done = 0;
  for (const found of text.matchAll(ESCAPED)) {
    parts.push(...encoder.encode(text.slice(done, found.index)), parseInt(found[1] ?? "", 16));
    done = found.index + found[0].length;
  }
  parts.push(...encoder.encode(text.slice(done)));
  return new Uint8Array(parts);
}

function escaped(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at);
    const char = length === 0 ? "" : textOf(bytes.subarray(at, at + length));
    if (char === "" || char.codePointAt(0) === NOT_TEXT) {
      const raw = bytes.subarray(at, at + Math.max(1, length));
      for (const byte of raw) text += MARK + byte.toString(16).toUpperCase();
      at += raw.length;
    } else {
      text += char;
      at += length;
    }
  }
  return text;
}

/** How many bytes a character that begins here has; 0 if none begins. */
function lengthAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  return length > 0 && textOf(bytes.subarray(at, at + length)) !== "" ? length : 0;
}

function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return "";
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
