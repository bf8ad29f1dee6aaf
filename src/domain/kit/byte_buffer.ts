/** Bytes that arrive in pieces. However small the pieces are, they take little more memory than their bytes. */
export class ByteBuffer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What is kept, until the next change. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Copies the piece. */
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

  /** Keeps only so many of the newest bytes. */
  keepLast(count: number): void {
    this.#bytes.copyWithin(0, Math.max(0, this.#length - count), this.#length);
    this.#length = Math.min(this.#length, count);
  }

  clear(): void {
    this.#bytes = new Uint8Array();
    this.#length = 0;
  }
}
