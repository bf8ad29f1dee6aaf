/** Part of an output; positions are bytes since its start. */
export interface OutputPart {
  readonly text: string;
  /** Its end, where the next part starts. */
  readonly to: number;
  /** Bytes before it that are no longer available. */
  readonly missed: number;
}

/** The newest bytes of an output that may continue for days. */
export class OutputRing {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #total = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  /** Bytes since the start, kept or not. */
  get total(): number {
    return this.#total;
  }

  push(chunk: Uint8Array): void {
    const size = this.#bytes.length;
    const kept = chunk.subarray(Math.max(0, chunk.length - size));
    const at = (this.#total + chunk.length - kept.length) % size;
    const first = kept.subarray(0, size - at);
    this.#bytes.set(first, at);
    this.#bytes.set(kept.subarray(first.length), 0);
    this.#total += chunk.length;
  }

  /** What is kept from a position on. `whole`: the output is complete, so a character cut at the end is not completed
   * later. */
  from(place: number, { maxBytes, whole }: { readonly maxBytes: number; readonly whole: boolean }): OutputPart {
    const size = this.#bytes.length;
    let begin = Math.max(place, this.#total - size, 0);
    let end = Math.min(this.#total, begin + maxBytes);
    // Not inside a character: continuation bytes are 10xxxxxx.
    if (begin > place) { while (begin < end && this.#isContinuation(begin)) begin++; }
    if (end < this.#total || !whole) end = this.#characterEnd(begin, end);
    const bytes = new Uint8Array(end - begin);
    for (let at = 0; at < bytes.length; at++) bytes[at] = this.#at(begin + at);
    return { text: new TextDecoder().decode(bytes), to: end, missed: begin - place };
  }

  #at(place: number): number {
    return this.#bytes[place % this.#bytes.length] ?? 0;
  }

  #isContinuation(place: number): boolean {
    return (this.#at(place) & 0xc0) === 0x80;
  }

  /** The position before an incomplete character; text that is not UTF-8 is cut anywhere. */
  #characterEnd(begin: number, end: number): number {
    for (let lead = end - 1; lead >= begin && lead > end - 4; lead--) {
      if (this.#isContinuation(lead)) continue;
      const byte = this.#at(lead);
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      // The rest of it follows if nothing does yet; a limit that is too small for it must not stop the reading.
      const isCut = lead + length > end && (lead > begin || end === this.#total);
      return isCut ? lead : end;
    }
    return end;
  }
}
