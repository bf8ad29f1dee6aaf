import { ByteBuffer } from "../kit/byte_buffer.ts";
import { decodeNarrow, decodeText } from "./decode_text.ts";

/** So much of a longer text shows its encoding. */
const HEAD_BYTES = 1 << 20;

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of a text as UTF-8, in whatever encoding they are, which `decodeText` finds by the first of them, or by the
 * first that are not ASCII. Bytes that are not of the encoding become U+FFFD. A byte order mark is left out. */
export class Utf8Pieces {
  /** As `TextDecoder` calls it. */
  encoding = "utf-8";
  /** Whether nothing in the bytes says that it is this encoding. */
  isGuess = false;
  /** How many characters were replaced so far. */
  replaced = 0;
  /** Whether the bytes are of no text: some were replaced, and there is a NUL among the first ones. */
  isBinary = false;
  readonly #isKnown: boolean;
  #isDecided = false;
  #hasNul = false;
  /** For encodings other than UTF-8. */
  #decoder: TextDecoder | null = null;
  /** Of UTF-8: the beginning of a character. */
  #rest: Bytes = new Uint8Array();
  /** The last byte of a text that was ASCII so far: a guess looks at what is before a character. */
  #before: Bytes = new Uint8Array();

  /** `encoding`: of bytes that are known to be in it. */
  constructor({ encoding }: { readonly encoding?: "utf-8" | undefined } = {}) {
    this.#isKnown = encoding !== undefined;
  }

  /** Each piece has whole characters only. */
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

  /** Leaves in `head` what does not show its encoding yet. */
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
    this.#hasNul = first === null;
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
      return this.#counted(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    }
  }

  #counted(text: string): Bytes {
    for (let at = text.indexOf("\uFFFD"); at >= 0; at = text.indexOf("\uFFFD", at + 1)) this.replaced++;
    this.isBinary = this.#hasNul && this.replaced > 0;
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

/** How many bytes come before the first that is not ASCII. */
function asciiLength(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] ?? 0) < 128) at++;
  return at;
}

/** Number of bytes at the end that begin a character without its last one. */
function openLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
