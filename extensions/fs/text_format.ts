import { advised, ByteBuffer, type DecodedText, type TextFormat } from "@vis/extension";

export const UTF_8: TextFormat = { encoding: "utf-8", hasMark: false, isGuess: false };
const MARK = "\uFEFF";

export interface FileFormat extends TextFormat {
  /** U+DC00 in the text stands for the first distinct invalid byte sequence, and U+DC01 for the next. Valid UTF-8
   * cannot contain these characters. */
  readonly strays?: readonly Uint8Array[];
}

const FIRST_STRAY = 0xdc00, MAX_STRAYS = 0x400;
const STRAYS = /[\udc00-\udfff]/u;

export function textWithStrays(
  bytes: Uint8Array,
): Required<Pick<FileFormat, "strays">> & { readonly text: string } | null {
  const parts: string[] = [];
  const strays = new Map<string, Uint8Array>();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const { length, isWhole } = characterAt(bytes, at);
    at += length;
    if (isWhole) continue;
    const stray = bytes.subarray(at - length, at);
    strays.set(stray.join(), stray);
    if (strays.size > MAX_STRAYS) return null;
    const index = [...strays.keys()].indexOf(stray.join());
    parts.push(decoder.decode(bytes.subarray(from, at - length)), String.fromCharCode(FIRST_STRAY + index));
    from = at;
  }
  return { text: parts.join("") + decoder.decode(bytes.subarray(from)), strays: [...strays.values()] };
}

function characterAt(bytes: Uint8Array, at: number): { readonly length: number; readonly isWhole: boolean } {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { length: 1, isWhole: true };
  const wanted = first < 0xc2 || first > 0xf4 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  let length = 1;
  for (; length < wanted; length++) {
    const byte = bytes[at + length] ?? 0;
    if (length === 1 ? byte < least || byte > most : (byte & 0xc0) !== 0x80) break;
  }
  return { length, isWhole: length === wanted };
}

/** The new text has U+FFFD where the old text has invalid bytes. */
export function withStraysOf(old: string, text: string, cannot: string): string {
  if (!text.includes("\uFFFD") || !STRAYS.test(old)) return text;
  const [stray, ...others] = new Set(old.match(/[\udc00-\udfff\ufffd]/gu));
  if (stray !== undefined && others.length === 0) return text.replaceAll("\uFFFD", stray);
  throw advised(
    new Error(`${cannot}: U+FFFD stands for several different byte sequences there`),
    "change only the text around them",
  );
}

export function encodeText(
  text: string,
  { encoding, hasMark, strays }: Omit<FileFormat, "isGuess">,
): Uint8Array<ArrayBuffer> {
  const whole = hasMark ? `${MARK}${text}` : text;
  if (encoding === "utf-8") return strays ? withStrays(whole, strays) : new TextEncoder().encode(whole);
  if (encoding === "utf-16le" || encoding === "utf-16be") return wideBytes(whole, encoding === "utf-16le");
  const table = tableOf(encoding);
  const bytes = new Uint8Array(2 * text.length);
  let [used, line] = [0, 1];
  for (const char of text) {
    const found = table.get(char);
    if (found === undefined) {
      const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
      throw new RangeError(`Line ${line} has ${JSON.stringify(char)} (${code}), which ${encoding} lacks`);
    }
    if (found > 0xff) bytes[used++] = found >> 8;
    bytes[used++] = found & 0xff;
    if (char === "\n") line++;
  }
  return bytes.slice(0, used);
}

export function isExact(bytes: Uint8Array, decoded: DecodedText): boolean {
  if (decoded.replaced > 0) return false;
  if (decoded.encoding === "utf-8") return true;
  try {
    const again = encodeText(decoded.text, decoded);
    return again.length === bytes.length && again.every((byte, at) => byte === bytes[at]);
  } catch {
    return false;
  }
}

export function encodingNamed(label: string, cannot: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw advised(
      new RangeError(`${cannot}: the encoding ${JSON.stringify(label)} is unknown`),
      "use a name such as utf-8, utf-16le, windows-1252 or shift_jis",
    );
  }
}

function withStrays(text: string, strays: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new ByteBuffer();
  for (const part of text.split(/([\udc00-\udfff])/u)) {
    const stray = STRAYS.test(part) ? strays[part.charCodeAt(0) - FIRST_STRAY] : undefined;
    bytes.push(stray ?? new TextEncoder().encode(part));
  }
  return bytes.bytes.slice();
}

function wideBytes(text: string, isLittle: boolean): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(2 * text.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at++) view.setUint16(2 * at, text.charCodeAt(at), isLittle);
  return bytes;
}

const TABLES = new Map<string, ReadonlyMap<string, number>>();
const PAIRS = ["shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr"];

function tableOf(encoding: string): ReadonlyMap<string, number> {
  const known = TABLES.get(encoding);
  if (known) return known;
  if (encoding.startsWith("iso-2022") || encoding === "replacement" || encoding === "x-user-defined") {
    throw new RangeError(`Text in ${encoding} is readable, but Vis cannot write it`);
  }
  const table = new Map<string, number>();
  const decoder = new TextDecoder(encoding);
  const add = (char: string, code: number): void => {
    if ([...char].length === 1 && char !== "\uFFFD" && !table.has(char)) table.set(char, code);
  };
  for (let byte = 0; byte < 256; byte++) add(decoder.decode(Uint8Array.of(byte)), byte);
  for (const lead of PAIRS.includes(encoding) ? leadsOf(encoding) : []) {
    const trails = Array.from({ length: 0xff - 0x40 }, (_, at) => 0x40 + at);
    const all = decoder.decode(Uint8Array.from(trails.flatMap((trail) => [lead, trail, 10]))).split("\n");
    for (const [at, trail] of trails.entries()) add(all[at] ?? "", lead << 8 | trail);
  }
  TABLES.set(encoding, table);
  return table;
}

function leadsOf(encoding: string): readonly number[] {
  const all = Array.from({ length: 0xfe - 0x81 + 1 }, (_, at) => 0x81 + at);
  if (encoding === "shift_jis") return all.filter((lead) => lead !== 0xed && lead !== 0xee);
  return encoding === "big5" ? [...all.filter((lead) => lead >= 0xa1), ...all.filter((lead) => lead < 0xa1)] : all;
}
