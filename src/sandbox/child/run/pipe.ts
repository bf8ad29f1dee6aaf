import { bareList, intrinsics } from "../../codec/intrinsics.ts";
import { type Bytes, type Frame, frameHead, FrameReader, type Header } from "../../protocol.ts";
import { captured } from "../realm/captured.ts";

const READ_BYTES = 256 << 10;
/** Up to this size, one write of a copy is cheaper than two writes. */
const COPIED_BYTES = 64 << 10;
const GATHERED = 16, SMALL_BYTES = 4096;
const NOTHING: Bytes = new Uint8Array(0);
const BytesOf = Uint8Array, Memory = ArrayBuffer, RangeFault = RangeError;
const read = Deno.stdin.read.bind(Deno.stdin), readSync = Deno.stdin.readSync.bind(Deno.stdin);
const writeSync = Deno.stdout.writeSync.bind(Deno.stdout);
const { bytesSet, viewBuffer, viewLength, viewOffset } = intrinsics;

interface WaitingFrame {
  readonly head: Bytes;
  readonly rest: Bytes | null;
}

interface Reading {
  readonly onFrame: (frame: Frame) => void;
  readonly onRead: () => void;
  readonly isTurnDue: () => boolean;
  readonly onlyWaits: () => boolean;
}

export function frameOf(header: Header, payload: Bytes = NOTHING): WaitingFrame {
  const payloadBytes = viewLength(payload), head = frameHead({ header, payloadBytes });
  if (payloadBytes > COPIED_BYTES) return { head, rest: payload };
  const headBytes = viewLength(head), whole = new BytesOf(headBytes + payloadBytes);
  bytesSet(whole, head, 0);
  bytesSet(whole, payload, headBytes);
  return { head: whole, rest: null };
}

/** Vis may stop a block's code at any call while it sends a frame, so each step leaves a state from which the next
 * continues. Writes wait for the reader, so that a block cannot send faster than the main process reads. */
export class Pipe {
  waiting: Bytes[] = bareList();
  gathers = false;
  #next = 0;
  #bytes: Bytes = NOTHING;
  #at = 0;
  readonly #end: (why: string | null) => void;
  readonly #frames = new FrameReader();
  readonly #memory = new Memory(READ_BYTES);
  readonly #buffer = new BytesOf(this.#memory);
  #reading: Reading | null = null;
  #resume: (() => void) | null = null;

  constructor(end: (why: string | null) => void) {
    this.#end = end;
  }

  send(header: Header, payload?: Bytes): void {
    const { head, rest } = frameOf(header, payload), { waiting } = this;
    waiting[waiting.length] = head;
    if (rest) waiting[waiting.length] = rest;
    if (!this.gathers) this.flush();
  }

  flushUnlessLittle(latestBytes: number): void {
    if (!this.gathers || latestBytes > SMALL_BYTES || this.waiting.length >= GATHERED) this.flush();
  }

  flush(): void {
    try {
      while (this.#at < viewLength(this.#bytes) || this.#join()) {
        this.#at += writeSync(this.#at === 0 ? this.#bytes : from(this.#bytes, this.#at));
      }
    } catch (error) {
      if (error instanceof RangeFault) throw error; // A block has used up the stack; the next turn continues.
      this.#end(null); // The main process is gone.
    }
  }

  #join(): boolean {
    const { waiting } = this;
    const start = this.#next;
    if (start >= waiting.length) {
      if (start === 0) return false;
      const none = bareList<Bytes>();
      this.waiting = none;
      this.#next = 0;
      return false;
    }
    let end = start + 1, size = viewLength(waiting[start]!), bytes = waiting[start]!;
    for (; end < waiting.length; end++) {
      const more = viewLength(waiting[end]!);
      if (size + more > COPIED_BYTES) break;
      size += more;
    }
    if (end > start + 1) {
      bytes = new BytesOf(size);
      for (let i = start, at = 0; i < end; i++) {
        bytesSet(bytes, waiting[i]!, at);
        at += viewLength(waiting[i]!);
      }
    }
    this.#bytes = bytes;
    this.#at = 0;
    this.#next = end;
    return true;
  }

  async serve(reading: Reading): Promise<void> {
    this.#reading = reading;
    // The runtime reads the length by a getter that a block may have replaced, and this getter would receive the
    // buffer.
    captured.defineProperty(this.#buffer, "length", { value: READ_BYTES });
    try {
      while (this.#take(await read(this.#buffer))) {
        if (reading.isTurnDue()) await new captured.Promise<void>((resolve) => this.#resume = resolve);
      }
    } catch (error) {
      this.#end(messageOf(error));
    }
  }

  /** While the child waits for a frame, this thread reads the frame itself, because the runtime would switch to another
   * thread. */
  readOn(): void {
    const reading = this.#reading, resume = this.#resume;
    if (resume === null || reading === null) return;
    try {
      while (reading.onlyWaits()) if (!this.#take(readSync(this.#buffer))) return;
    } catch (error) {
      return this.#end(messageOf(error));
    }
    if (reading.isTurnDue()) return;
    this.#resume = null;
    resume();
  }

  #take(got: number | null): boolean {
    const reading = this.#reading;
    if (got === null || reading === null) {
      this.#end(null);
      return false;
    }
    this.gathers = true;
    this.#frames.push(new BytesOf(this.#memory, 0, got), reading.onFrame);
    reading.onRead();
    return true;
  }
}

function from(bytes: Bytes, at: number): Bytes {
  return new BytesOf(viewBuffer(bytes) as ArrayBuffer, viewOffset(bytes) + at, viewLength(bytes) - at);
}

function messageOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null;
  const message: unknown = isObject ? captured.getOwnPropertyDescriptor(error, "message")?.value : null;
  return typeof message === "string" ? message : "the call failed without a message";
}
