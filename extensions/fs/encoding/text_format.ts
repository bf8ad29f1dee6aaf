import { guessEncoding } from "./guess_encoding.ts";

/** How a text is written in a file. */
export interface TextFormat {
  /** As `TextDecoder` calls it. */
  readonly encoding: string;
  /** Whether the file begins with a byte order mark, which the text does not have. */
  readonly hasMark: boolean;
  /** Whether nothing in the file says that it is this encoding. */
  readonly isGuess: boolean;
}

export interface DecodedText extends TextFormat {
  readonly text: string;
  /** How many characters stand for bytes that are not of the encoding: writing the text back would lose them. */
  readonly replaced: number;
}

export const UTF_8: TextFormat = { encoding: "utf-8", hasMark: false, isGuess: false };
const MARK = "\uFEFF";
const MARKS: Readonly<Record<string, readonly number[]>> = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
};
/** A NUL among the first bytes makes a file binary for git. */
const PROBE = 8_000;
const FEW = 0.9;

/** The text of a file: in the given encoding, or by its byte order mark, as UTF-8, or by a guess. Null if it is binary. */
export function decodeFile(bytes: Uint8Array, encoding?: string): DecodedText | null {
  if (encoding !== undefined) return decodedAs(bytes, { encoding, isGuess: false });
  for (const [name, mark] of Object.entries(MARKS)) {
    const isOther = name === "utf-8" || bytes.length % 2 === 1 || startsWith(bytes, [0xff, 0xfe, 0, 0]);
    if (!isOther && startsWith(bytes, mark)) {
      return decodedAs(bytes, { encoding: name, isGuess: false });
    }
  }
  const wide = wideEncoding(bytes);
  if (wide !== null) return decodedAs(bytes, { encoding: wide, isGuess: true });
  if (bytes.subarray(0, PROBE).includes(0)) return null;
  const text = decodedAs(bytes, UTF_8);
  if (text.replaced === 0 || isMostlyUtf8(text)) return text;
  return decodedAs(bytes, { encoding: guessEncoding(bytes), isGuess: true });
}

/** The bytes of a text. Throws RangeError for a character that the encoding does not have. */
export function encodeText(text: string, { encoding, hasMark }: Omit<TextFormat, "isGuess">): Uint8Array<ArrayBuffer> {
  const whole = hasMark ? `${MARK}${text}` : text;
  if (encoding === "utf-8") return new TextEncoder().encode(whole);
  if (encoding === "utf-16le" || encoding === "utf-16be") return wideBytes(whole, encoding === "utf-16le");
  const table = tableOf(encoding);
  const bytes = new Uint8Array(2 * text.length);
  let [used, line] = [0, 1];
  for (const char of text) {
    const found = table.get(char);
    if (found === undefined) {
      const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
      throw new RangeError(`Line ${line} has ${JSON.stringify(char)} (${code}), which ${encoding} does not have`);
    }
    if (found > 0xff) bytes[used++] = found >> 8;
    bytes[used++] = found & 0xff;
    if (char === "\n") line++;
  }
  return bytes.slice(0, used);
}

/** Whether writing the text back gives the same bytes. */
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

/** The encoding of 16 bits that bytes without a mark are in, if that is clear: Latin text has a NUL in every second
 * byte, and nothing else there. */
export function wideEncoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const head = bytes.subarray(0, Math.min(bytes.length, PROBE) & ~1);
  if (!head.includes(0)) return null;
  if (head.length < 4 || head.length < Math.min(bytes.length, PROBE) - (bytes.length > PROBE ? 1 : 0)) return null;
  const nulls = [0, 0];
  for (let at = 0; at < head.length; at++) if (head[at] === 0) nulls[at % 2] = (nulls[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = nulls;
  const most = Math.max(even, odd);
  if (Math.min(even, odd) > 0 || most < FEW * head.length / 2) return null;
  const name = odd > even ? "utf-16le" : "utf-16be";
  const text = new TextDecoder(name).decode(head);
  // deno-lint-ignore no-control-regex -- they are in binary files
  return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : name;
}

/** The name of an encoding, of which labels such as "latin1" are others. Throws RangeError for one that is not known. */
export function encodingNamed(label: string, cannot: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new RangeError(
      `${cannot}: there is no encoding ${JSON.stringify(label)}; utf-8, utf-16le, windows-1252 and shift_jis are some`,
    );
  }
}

function decodedAs(bytes: Uint8Array, { encoding, isGuess }: Pick<TextFormat, "encoding" | "isGuess">): DecodedText {
  const hasMark = startsWith(bytes, MARKS[encoding] ?? [-1]);
  try {
    const text = strictDecoder(encoding).decode(bytes);
    return { text, encoding, hasMark, isGuess, replaced: 0 };
  } catch {
    const text = new TextDecoder(encoding).decode(bytes);
    return { text, encoding, hasMark, isGuess, replaced: Math.max(1, text.split("\uFFFD").length - 1) };
  }
}

const STRICT = new Map<string, TextDecoder>();

/** Used again: a new one costs more than a small text. */
function strictDecoder(encoding: string): TextDecoder {
  const known = STRICT.get(encoding) ?? new TextDecoder(encoding, { fatal: true });
  STRICT.set(encoding, known);
  return known;
}

/** A log with some broken bytes is UTF-8 nevertheless. */
function isMostlyUtf8({ text, replaced }: DecodedText): boolean {
  // deno-lint-ignore no-control-regex -- above ASCII
  const other = text.replace(/[\u0000-\u007f\ufffd]+/g, "").length;
  return other > 3 * replaced;
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}

function wideBytes(text: string, isLittle: boolean): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(2 * text.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at++) view.setUint16(2 * at, text.charCodeAt(at), isLittle);
  return bytes;
}

const TABLES = new Map<string, ReadonlyMap<string, number>>();
const PAIRS = ["shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr"];

/** The bytes of each character, as the runtime decodes them. Of several, the first is used. */
function tableOf(encoding: string): ReadonlyMap<string, number> {
  const known = TABLES.get(encoding);
  if (known) return known;
  if (encoding.startsWith("iso-2022") || encoding === "replacement" || encoding === "x-user-defined") {
    throw new RangeError(`Text in ${encoding} can be read, not written`);
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
  // These repeat characters of other rows.
  if (encoding === "shift_jis") return all.filter((lead) => lead !== 0xed && lead !== 0xee);
  return encoding === "big5" ? [...all.filter((lead) => lead >= 0xa1), ...all.filter((lead) => lead < 0xa1)] : all;
}
