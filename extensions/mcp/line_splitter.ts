import { ByteBuffer } from "@vis/extension";

/** Splits a byte stream into lines. Too long lines and floods of lines are errors. */
export class LineSplitter {
  readonly #maxLine: number;
  readonly #maxUnasked: number;
  readonly #line = new ByteBuffer();
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
      lines.push(this.#end(bytes.subarray(from, end)));
      from = end + 1;
    }
    this.#keep(bytes.subarray(from));
    return lines;
  }

  #end(last: Uint8Array<ArrayBuffer>): string {
    this.#keep(last);
    const text = new TextDecoder().decode(this.#line.bytes);
    this.#line.clear();
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }

  #keep(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#line.length + bytes.length > this.#maxLine) {
      throw new RangeError(`It wrote a message of over ${this.#maxLine} bytes`);
    }
    this.#line.push(bytes);
  }
}
