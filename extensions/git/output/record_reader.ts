const NEWLINE = 10;
/** Limit of one record; the rest is dropped, so that long lines take no memory. */
const MAX_RECORD = 256 << 10;

/** Splits a byte stream into records and passes them on as text. */
export class RecordReader {
  readonly #take: (record: string) => void;
  readonly #parts: Uint8Array[] = [];
  #separator: number;
  #length = 0;

  /** The separator is a byte, by default a line feed. */
  constructor(take: (record: string) => void, { separator = NEWLINE }: { readonly separator?: number } = {}) {
    this.#take = take;
    this.#separator = separator;
  }

  /** Changes the separator from here on; call it while a record is being passed on. */
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

  /** Passes on what follows the last separator. */
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
