import { Buffer } from "node:buffer";

const CHUNK = 16 << 10;

/** Reads a connection by lines and by lengths; buffers nothing beyond what was requested. */
export class ByteReader {
  readonly #source: { read(into: Uint8Array): Promise<number | null> };
  #left: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(source: { read(into: Uint8Array): Promise<number | null> }) {
    this.#source = source;
  }

  /** A line without its ending. Throws RangeError for a line over `most` bytes, and Error if the input ends first. */
  async line(most: number): Promise<string> {
    let line: Uint8Array = new Uint8Array();
    for (;;) {
      const end = this.#left.indexOf(10);
      const part = end < 0 ? this.#left : this.#left.subarray(0, end);
      if (line.length + part.length > most) throw new RangeError(`A line is longer than ${most} bytes`);
      line = Buffer.concat([line, part]);
      if (end >= 0) {
        this.#left = this.#left.subarray(end + 1);
        // Headers are bytes: each becomes the character with its number.
        return String.fromCharCode(...(line.at(-1) === 13 ? line.subarray(0, -1) : line));
      }
      if (!await this.#fill()) throw new Error("The answer ended in the middle of a line");
    }
  }

  /** The next bytes, at least one and at most `most`; null at the end. */
  async some(most: number): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#left.length === 0 && !await this.#fill()) return null;
    const part = this.#left.subarray(0, most);
    this.#left = this.#left.subarray(part.length);
    return part;
  }

  async #fill(): Promise<boolean> {
    const buffer = new Uint8Array(CHUNK);
    const length = await this.#source.read(buffer);
    this.#left = buffer.subarray(0, length ?? 0);
    return length !== null && length > 0;
  }
}
