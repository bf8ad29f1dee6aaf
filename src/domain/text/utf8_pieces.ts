const PROBE = 8_000;

/** Bytes of a text as UTF-8, whatever they are: UTF-16 by its byte order mark, and U+FFFD for what is neither. The mark
 * is left out. */
export class Utf8Pieces {
  /** How many characters were replaced so far. */
  replaced = 0;
  /** Whether the bytes are of no text: some were replaced, and there is a NUL among the first ones. */
  isBinary = false;

  /** Each piece has whole characters only. */
  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    let [rest, read]: [Uint8Array<ArrayBuffer>, number] = [new Uint8Array(), 0];
    let wide: TextDecoder | null = null;
    let [isFirst, hasNul] = [true, false];
    for await (const bytes of source) {
      let whole = joined(rest, bytes);
      rest = new Uint8Array();
      if (isFirst && whole.length < 3) {
        rest = whole;
        continue;
      }
      if (isFirst) {
        wide = wideDecoder(whole);
        if (wide === null) whole = withoutMark(whole);
      }
      isFirst = false;
      if (wide !== null) {
        yield this.#counted(wide.decode(whole, { stream: true }));
        continue;
      }
      hasNul ||= read < PROBE && whole.subarray(0, PROBE - read).includes(0);
      read += whole.length;
      const end = whole.length - openLength(whole);
      rest = whole.slice(end);
      yield this.#valid(whole.subarray(0, end));
      this.isBinary = hasNul && this.replaced > 0;
    }
    if (wide !== null) yield this.#counted(wide.decode());
    else if (rest.length > 0) yield this.#valid(isFirst ? withoutMark(rest) : rest);
    this.isBinary = hasNul && this.replaced > 0;
  }

  #valid(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return bytes;
    } catch {
      return this.#counted(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    }
  }

  #counted(text: string): Uint8Array<ArrayBuffer> {
    for (let at = text.indexOf("\uFFFD"); at >= 0; at = text.indexOf("\uFFFD", at + 1)) this.replaced++;
    return new TextEncoder().encode(text);
  }
}

function joined(rest: Uint8Array<ArrayBuffer>, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(rest.length + bytes.length);
  whole.set(rest);
  whole.set(bytes, rest.length);
  return whole;
}

function wideDecoder([first, second]: Uint8Array): TextDecoder | null {
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le");
  return first === 0xfe && second === 0xff ? new TextDecoder("utf-16be") : null;
}

function withoutMark(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
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
