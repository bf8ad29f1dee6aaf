import { ByteBuffer } from "@vis/extension";

const NEWLINE = 10;
/** Limit of one record; the rest is dropped, so that long lines take no memory. */
const MAX_RECORD = 256 << 10;

/** Splits a byte stream into records and passes them on as text, in which bytes that are not UTF-8 are U+FFFD. */
export class RecordReader {
  readonly #take: (record: string, bytes: Uint8Array) => void;
  readonly #record = new ByteBuffer();
  #separator: number;

  /** The separator is a byte, by default a line feed. */
  constructor(
    take: (record: string, bytes: Uint8Array) => void,
    { separator = NEWLINE }: { readonly separator?: number } = {},
  ) {
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
    if (this.#record.length > 0) this.#flush();
  }

  #add(bytes: Uint8Array): void {
    this.#record.push(bytes.subarray(0, MAX_RECORD - this.#record.length));
  }

  #flush(): void {
    const { bytes } = this.#record;
    this.#record.clear();
    this.#take(new TextDecoder().decode(bytes), bytes);
  }
}
