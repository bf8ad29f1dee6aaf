import { guessEncoding } from "./guess_encoding.ts";

/** How a text is written as bytes. */
export interface TextFormat {
  /** As `TextDecoder` calls it. */
  readonly encoding: string;
  /** Whether the bytes begin with a byte order mark, which the text does not have. */
  readonly hasMark: boolean;
  /** Whether nothing in the bytes says that it is this encoding. */
  readonly isGuess: boolean;
}

export interface DecodedText extends TextFormat {
  readonly text: string;
  /** How many characters stand for bytes that are not of the encoding: writing the text back would lose them. */
  readonly replaced: number;
}

const MARKS: Readonly<Record<string, readonly number[]>> = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
};
/** A NUL among the first bytes makes a file binary for git. */
const PROBE = 8_000;
const FEW = 0.9;

/** The text of bytes from outside: in the given encoding, or by their byte order mark, as UTF-8, or by a guess. Null if
 * they are binary. */
export function decodeText(bytes: Uint8Array, encoding?: string): DecodedText | null {
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
  return decodeNarrow(bytes);
}

/** The same for bytes that are neither UTF-16 nor binary. */
export function decodeNarrow(bytes: Uint8Array): DecodedText {
  const text = decodedAs(bytes, { encoding: "utf-8", isGuess: false });
  if (text.replaced === 0 || text.hasMark || isMostlyUtf8(text)) return text;
  return decodedAs(bytes, { encoding: guessEncoding(bytes), isGuess: true });
}

/** The encoding of 16 bits that bytes without a mark are in, if that is clear: Latin text has a NUL in every second
 * byte, and nothing else there. */
function wideEncoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
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

/** A log with some broken bytes is UTF-8 nevertheless, and so is a text that was cut within a character. */
function isMostlyUtf8({ text, replaced }: DecodedText): boolean {
  // deno-lint-ignore no-control-regex -- above ASCII
  const other = text.replace(/[\u0000-\u007f\ufffd]+/g, "").length;
  return other > 3 * replaced || other > 0 && replaced === 1 && text.endsWith("\uFFFD");
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}
