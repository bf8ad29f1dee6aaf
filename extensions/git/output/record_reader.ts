const NEWLINE = 10;
/** Of one record; what is beyond is dropped, so that no line of any length takes memory. */
const MAX_RECORD = 256 << 10;

/** Cuts a stream of bytes into records, which it hands over as text. */
export class RecordReader {
  readonly #take: (record: string) => void;
  readonly #parts: Uint8Array[] = [];
  #separator: number;
  #length = 0;

  /** Records end with a byte, a line end unless told. */
  constructor(take: (record: string) => void, { separator = NEWLINE }: { readonly separator?: number } = {}) {
    this.#take = take;
    this.#separator = separator;
  }

  /** Records from here on end otherwise; to be called while one is handed over. */
  endWith(separator: number): void {
    this.#separator = separator;
  }

  push(chunk: Uint8Array): void {
    let rest = chunk;
    for (let at = rest.indexOf(this.#separator); at >= 0; at = rest.indexOf(this.#separator)) {
      this.#add(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      this.#flush();
    }
    this.#add(rest);
  }

  /** What stands behind the last separator. */
  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #add(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, Math.max(0, MAX_RECORD - this.#length));
    if (kept.length > 0) this.#parts.push(kept.slice());
    this.#length += kept.length;
  }

  #flush(): void {
    const decoder = new TextDecoder();
    const text = this.#parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
    this.#parts.length = 0;
    this.#length = 0;
    this.#take(text);
  }
}
