/** Splits a byte stream into lines. Too long lines and floods of lines are errors. */
export class LineSplitter {
  readonly #maxLine: number;
  readonly #maxUnasked: number;
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;
  #unasked = 0;

  constructor({ maxLine, maxUnasked }: { readonly maxLine: number; readonly maxUnasked: number }) {
    this.#maxLine = maxLine;
    this.#maxUnasked = maxUnasked;
  }

  /** Call when a request was sent: the next line may be the answer. */
  asked(): void {
    this.#unasked = 0;
  }

  /** Throws RangeError. */
  push(bytes: Uint8Array<ArrayBuffer>): readonly string[] {
    this.#unasked += bytes.length;
    if (this.#unasked > this.#maxUnasked) throw new RangeError(`It wrote ${this.#unasked} bytes that nobody asked for`);
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      lines.push(this.#line(bytes.subarray(from, end)));
      from = end + 1;
    }
    this.#keep(bytes.subarray(from));
    return lines;
  }

  #line(last: Uint8Array<ArrayBuffer>): string {
    this.#keep(last);
    const decoder = new TextDecoder();
    const text = this.#parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
    this.#parts = [];
    this.#length = 0;
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }

  #keep(bytes: Uint8Array<ArrayBuffer>): void {
    this.#length += bytes.length;
    if (this.#length > this.#maxLine) throw new RangeError(`It wrote a message of over ${this.#maxLine} bytes`);
    if (bytes.length > 0) this.#parts.push(bytes);
  }
}
