import { intrinsics as own } from "./intrinsics.ts";

/** Room for a small table, so that a long text is not copied again to append it. */
const SLACK = 1024;
const FIRST = 512;

/** The bytes of an encoding under construction: format byte, segments, then the table and its length. Text is encoded
 * in place, so 100 MB of it are copied once. */
export class SegmentWriter {
  #bytes = new own.Uint8Array(FIRST);
  /** Length of `#bytes`; its own `length` is a getter that foreign code may replace. */
  #room = FIRST;
  #used = 1;
  readonly #check: (size: number) => void;

  /** `check` throws if the size exceeds the caller's limit. */
  constructor(format: number, check: (size: number) => void) {
    this.#bytes[0] = format;
    this.#check = check;
  }

  get used(): number {
    return this.#used;
  }

  /** The slot for a text of any length. */
  text(value: string): string {
    this.#check(this.#used + value.length);
    const at = this.#used;
    if (own.isWellFormed(value)) {
      this.#write(value);
      return `~s${at}:${this.#used - at}`;
    }
    const units = new own.Uint16Array(value.length);
    for (let i = 0; i < value.length; i++) units[i] = own.charCodeAt(value, i);
    this.#append(new own.Uint8Array(own.viewBuffer(units) as ArrayBuffer));
    return `~S${at}:${this.#used - at}`;
  }

  /** Copies `bytes`; returns their offset. */
  bytes(bytes: Uint8Array<ArrayBuffer>): number {
    const at = this.#used;
    this.#check(at + own.viewLength(bytes));
    this.#append(bytes);
    return at;
  }

  finish(table: string): Uint8Array<ArrayBuffer> {
    const at = this.#used;
    this.#reserve(table.length + 4);
    this.#write(table);
    const size = this.#used - at;
    this.#reserve(4);
    for (let i = 0; i < 4; i++) this.#bytes[this.#used++] = (size >>> (8 * i)) & 255;
    this.#check(this.#used);
    const whole = new own.Uint8Array(this.#buffer, 0, this.#used);
    if (this.#room - this.#used <= this.#used / 8) return whole;
    const exact = new own.Uint8Array(this.#used);
    own.bytesSet(exact, whole, 0);
    return exact;
  }

  #write(text: string): void {
    this.#reserve(text.length);
    let rest = text;
    while (rest.length > 0) {
      const into = new own.Uint8Array(this.#buffer, this.#used);
      const { read, written } = own.encodeInto(rest, into);
      this.#used += written;
      if (read === rest.length) return;
      rest = own.slice(rest, read);
      this.#reserve(rest.length * 3);
    }
  }

  #append(bytes: Uint8Array<ArrayBuffer>): void {
    const size = own.viewLength(bytes);
    this.#reserve(size);
    own.bytesSet(this.#bytes, bytes, this.#used);
    this.#used += size;
  }

  #reserve(more: number): void {
    if (this.#used + more <= this.#room) return;
    const needed = this.#used + more + SLACK, double = this.#room * 2;
    const room = needed > 1 << 20 || double < needed ? needed : double;
    const grown = new own.Uint8Array(room);
    own.bytesSet(grown, new own.Uint8Array(this.#buffer, 0, this.#used), 0);
    this.#bytes = grown;
    this.#room = room;
  }

  get #buffer(): ArrayBuffer {
    return own.viewBuffer(this.#bytes) as ArrayBuffer;
  }
}
