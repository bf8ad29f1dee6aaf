import { abortable } from "./concurrency.ts";

export class ByteBuffer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The returned bytes are valid until the next change. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  push(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  keepLast(count: number): void {
    this.#bytes.copyWithin(0, Math.max(0, this.#length - count), this.#length);
    this.#length = Math.min(this.#length, count);
  }

  clear(): void {
    this.#bytes = new Uint8Array();
    this.#length = 0;
  }
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

interface Bounds {
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  readonly signal?: AbortSignal;
}

export async function readBounded(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, tooLarge, signal }: Bounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new ByteBuffer();
  const reader = stream.getReader();
  try {
    for (;;) {
      // The signal of `fetch` does not end the body once the runtime has garbage-collected the `Response`.
      const { done, value } = await abortable(reader.read(), signal);
      if (done) return whole.bytes;
      if (whole.length + value.length > maxBytes) throw tooLarge();
      whole.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw error;
  }
}

export interface TextFormat {
  readonly encoding: string;
  /** If true, a byte order mark precedes the text, which does not contain the mark. */
  readonly hasMark: boolean;
  readonly isGuess: boolean;
}

export interface DecodedText extends TextFormat {
  readonly text: string;
  /** This number of U+FFFD characters replaces invalid bytes, which writing the text back would lose. */
  readonly replaced: number;
}

const MARKS: Readonly<Record<string, readonly number[]>> = {
  "utf-8": [0xef, 0xbb, 0xbf],
  "utf-16le": [0xff, 0xfe],
  "utf-16be": [0xfe, 0xff],
};
/** Git treats a file as binary if its first 8,000 bytes contain a NUL. */
const PROBE = 8_000;
const FEW = 0.9;

/** Without `encoding`, returns null for binary bytes, and may guess the encoding of other bytes. */
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

function decodeNarrow(bytes: Uint8Array): DecodedText {
  const text = decodedAs(bytes, { encoding: "utf-8", isGuess: false });
  if (text.replaced === 0 || text.hasMark || isClearlyUtf8(text)) return text;
  const guess = guessEncoding(bytes);
  return isRatherUtf8(text, guess) ? text : decodedAs(bytes, { encoding: guess, isGuess: true });
}

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
    return { text, encoding, hasMark, isGuess, replaced: Math.max(1, replacedIn(text, bytes, encoding)) };
  }
}

function replacedIn(text: string, bytes: Uint8Array, encoding: string): number {
  let count = 0;
  for (let at = text.indexOf("\uFFFD"); at >= 0; at = text.indexOf("\uFFFD", at + 1)) count++;
  if (encoding !== "utf-8") return count;
  for (let at = bytes.indexOf(0xef); at >= 0; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count--;
  }
  return count;
}

const STRICT = new Map<string, TextDecoder>();

function strictDecoder(encoding: string): TextDecoder {
  const known = STRICT.get(encoding) ?? new TextDecoder(encoding, { fatal: true });
  STRICT.set(encoding, known);
  return known;
}

function isClearlyUtf8({ text, replaced }: DecodedText): boolean {
  const whole = wholeAbove(text, replaced);
  return whole > 3 * replaced || whole > 0 && replaced === 1 && text.endsWith("\uFFFD");
}

/** Bytes of a single-byte encoding rarely form valid UTF-8 by chance, and longer UTF-8 sequences are even rarer. */
function isRatherUtf8({ text, replaced }: DecodedText, guess: Candidate): boolean {
  const longer = (text.match(/[\u0800-\uffff]/g)?.length ?? 0) - replaced;
  const whole = wholeAbove(text, replaced) + longer;
  return whole > replaced && SINGLE.has(guess) || whole === replaced && guess === "windows-1252";
}

function wholeAbove(text: string, replaced: number): number {
  // deno-lint-ignore no-control-regex -- above ASCII
  return text.replace(/[\u0000-\u007f]+/g, "").length - replaced;
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}

const HEAD_BYTES = 1 << 20;

type Bytes = Uint8Array<ArrayBuffer>;
const NO_BYTES: Bytes = new Uint8Array();

export class Utf8Pieces {
  encoding = "utf-8";
  isGuess = false;
  replaced = 0;
  isBinary = false;
  readonly #isKnown: boolean;
  #isDecided = false;
  #decoder: TextDecoder | null = null;
  #rest: Bytes = NO_BYTES;
  /** A guess needs the byte before a character, so this field keeps the last byte while all text is ASCII. */
  #before: Bytes = NO_BYTES;

  constructor({ encoding }: { readonly encoding?: "utf-8" | undefined } = {}) {
    this.#isKnown = encoding !== undefined;
  }

  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes> {
    const head = new ByteBuffer();
    let isFirst = true;
    for await (const bytes of source) {
      if (this.#isDecided) {
        yield this.#decoded(bytes);
        continue;
      }
      const plain = isFirst || head.length > 0 ? 0 : asciiLength(bytes);
      if (plain > 0) yield this.#plain(bytes.slice(0, plain));
      head.push(bytes.subarray(plain));
      if (head.length < HEAD_BYTES) continue;
      yield this.#begun(head, isFirst);
      isFirst = false;
    }
    if (head.length > 0) yield this.#begun(head, isFirst);
    yield this.#decoder === null ? this.#valid(this.#rest) : this.#counted(this.#decoder.decode());
  }

  #begun(head: ByteBuffer, isFirst: boolean): Bytes {
    const bytes = head.bytes.slice();
    head.clear();
    this.#decide(bytes.subarray(0, HEAD_BYTES), isFirst);
    if (this.#isDecided) return this.#decoded(isFirst && this.#decoder === null ? withoutMark(bytes) : bytes);
    const plain = asciiLength(bytes);
    head.push(bytes.subarray(plain));
    return this.#plain(bytes.subarray(0, plain));
  }

  #plain(bytes: Bytes): Bytes {
    if (bytes.length > 0) this.#before = bytes.slice(-1);
    return bytes;
  }

  #decide(sample: Bytes, isFirst: boolean): void {
    const first = isFirst && !this.#isKnown ? decodeText(sample) : undefined;
    this.isBinary = first === null;
    this.#isDecided = this.#isKnown || first === null;
    if (this.#isDecided) return;
    const whole = sample.length < HEAD_BYTES ? sample : sample.subarray(0, sample.length - openLength(sample));
    const { encoding, isGuess } = first?.encoding.startsWith("utf-16")
      ? first
      : decodeNarrow(joined(this.#before, whole));
    if (encoding === "utf-8" && asciiLength(whole) === whole.length) return;
    this.#isDecided = true;
    this.encoding = encoding;
    this.isGuess = isGuess;
    if (encoding !== "utf-8") this.#decoder = new TextDecoder(encoding);
  }

  #decoded(bytes: Uint8Array): Bytes {
    if (this.#decoder !== null) return this.#counted(this.#decoder.decode(bytes, { stream: true }));
    const whole = joined(this.#rest, bytes);
    const end = whole.length - openLength(whole);
    this.#rest = whole.slice(end);
    return this.#valid(whole.subarray(0, end));
  }

  #valid(bytes: Bytes): Bytes {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return bytes;
    } catch {
      return this.#counted(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), bytes);
    }
  }

  #counted(text: string, bytes: Bytes = NO_BYTES): Bytes {
    this.replaced += replacedIn(text, bytes, "utf-8");
    return new TextEncoder().encode(text);
  }
}

function joined(rest: Bytes, bytes: Uint8Array): Bytes {
  const whole = new Uint8Array(rest.length + bytes.length);
  whole.set(rest);
  whole.set(bytes, rest.length);
  return whole;
}

function withoutMark(bytes: Bytes): Bytes {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function asciiLength(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] ?? 0) < 128) at++;
  return at;
}

function openLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** The order decides between encodings with the same score. */
const CANDIDATES = [
  "windows-1252",
  "shift_jis",
  "euc-jp",
  "gbk",
  "big5",
  "euc-kr",
  "windows-1251",
  "koi8-r",
  "ibm866",
  "windows-1250",
] as const;
type Candidate = typeof CANDIDATES[number];
const SINGLE: ReadonlySet<Candidate> = new Set(["windows-1252", "windows-1251", "koi8-r", "ibm866", "windows-1250"]);

const ENOUGH = 4_000, MOST_OF_LINE = 16_000;
const HAN = new Set(
  "的一是不了在有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发" +
    "成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知件数据设置错误码代返回注释测试函参值配表名类型" +
    "這個來時說們為會過學對裡後發經頭見從動兩長國資料檔案錯誤設定測試返註釋數據類",
);
const HANGUL = new Set("이다는을의에가하고지를은로한도기사인자시정어리대서있그나해수일안니세요설파오류값함입력출");
const WESTERN = /[àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒ]/;
const CENTRAL = /[ąćčďęěľĺłńňőŕřśšťůűýźżžáéíóöúüçëôäâîĄĆČĎĘĚŁŃŇŐŘŚŠŤŮŰŹŻŽÁÉÍÓÖÚÜÇ]/;
const SIGN = /[“”„‘’‚–—…€©®™°§«»¿¡£·•§ªº\u00a0]/;

function guessEncoding(bytes: Uint8Array): Candidate {
  const { sample, isCut } = sampleOf(bytes);
  let [best, most]: [Candidate, number] = ["windows-1252", -Infinity];
  for (const name of CANDIDATES) {
    const text = new TextDecoder(name).decode(sample, { stream: isCut });
    const rare = name === "gbk" || name === "euc-kr" ? 2 * lettersInPairs(sample) : 0;
    const score = text.includes("\uFFFD") ? -Infinity : scoreOf(text, name) - rare;
    if (score > most) [best, most] = [name, score];
  }
  return best;
}

function sampleOf(bytes: Uint8Array): { readonly sample: Uint8Array; readonly isCut: boolean } {
  const sample = new ByteBuffer();
  for (let at = 0; at < bytes.length && sample.length < ENOUGH;) {
    const feed = bytes.indexOf(10, at);
    const end = feed < 0 ? bytes.length : feed + 1;
    const first = bytes.subarray(at, end).findIndex((byte) => byte > 127);
    const from = at + Math.max(0, first - 1);
    if (first >= 0) sample.push(bytes.subarray(from, Math.min(end, from + MOST_OF_LINE)));
    if (first >= 0 && end - from > MOST_OF_LINE) return { sample: sample.bytes, isCut: true };
    at = end;
  }
  return { sample: sample.bytes, isCut: false };
}

/** In GBK and EUC-KR, a pair whose second byte is ASCII is a rare character. */
function lettersInPairs(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] ?? 0) < 128) continue;
    if ((bytes[++at] ?? 0) < 128) count++;
  }
  return count;
}

function scoreOf(text: string, name: Candidate): number {
  let score = 0;
  const chars = [...text];
  const isJapanese = name === "shift_jis" || name === "euc-jp";
  const share = isJapanese && !/[\u3040-\u30ff]/.test(text) ? 0.8 : 1;
  for (const [at, char] of chars.entries()) {
    if (char <= "\x7f") continue;
    const around = [chars[at - 1] ?? "", chars[at + 1] ?? ""] as const;
    score += name === "windows-1252" || name === "windows-1250"
      ? latin(char, around, name === "windows-1252" ? WESTERN : CENTRAL) - (name === "windows-1250" ? 0.1 : 0)
      : ["windows-1251", "koi8-r", "ibm866"].includes(name)
      ? cyrillic(char, around)
      : 2 * share * (isInLatinWord(around) ? -1 : eastern(char, name));
  }
  return score;
}

type Around = readonly [string, string];

function latin(char: string, around: Around, letters: RegExp): number {
  if (letters.test(char)) {
    const isInWord = around.some((one) => /[A-Za-z]/.test(one));
    const isAlone = around.every((one) => one <= "\x7f");
    return isInWord && isAlone ? 1 : isInWord || isAlone ? 0.6 : -0.3;
  }
  if (SIGN.test(char)) return around.every((one) => one <= "\x7f") ? 0.95 : 0;
  return char < "\xa0" ? -3 : -1;
}

function isInLatinWord(around: Around): boolean {
  return around.some((one) => /[A-Za-z]/.test(one)) && around.every((one) => one <= "\x7f");
}

function cyrillic(char: string, [before, next]: Around): number {
  if (!/[а-яёА-ЯЁ]/.test(char)) return /[№«»–—“”…\u00a0]/.test(char) ? 0.3 : -1;
  if (/[A-Za-z]/.test(before)) return -1;
  if (![before, next].some((one) => /[а-яёА-ЯЁ]/.test(one))) return 0.3;
  const isCapital = char === char.toUpperCase();
  return isCapital && /[а-яё]/.test(before) ? -1 : isCapital ? 0.7 : 1;
}

function eastern(char: string, name: Candidate): number {
  if (/[\u3040-\u30ff]/.test(char)) return name === "shift_jis" || name === "euc-jp" ? 1.2 : -0.5;
  if (/[\uff61-\uff9f]/.test(char)) return -0.6;
  if (/[\uac00-\ud7a3]/.test(char)) return name !== "euc-kr" ? -1 : HANGUL.has(char) ? 1.3 : 0.85;
  if (/[\u3000-\u303f\uff01-\uff5e]/.test(char)) return 0.9;
  if (!/[\u4e00-\u9fff]/.test(char)) return /[\ue000-\uf8ff]/.test(char) ? -2 : -0.4;
  if (HAN.has(char)) return name === "gbk" || name === "big5" ? 1.5 : 1;
  return name === "euc-kr" ? -0.5 : 0.75;
}
