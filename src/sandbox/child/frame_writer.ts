import { type Bytes, frameHead, type Header } from "../protocol.ts";

/** What a pipe takes at once; more is written without blocking the thread that watches deadlines. */
const AT_ONCE_BYTES = 60_000;
const NOTHING: Bytes = new Uint8Array(0);

/** Frames to stdout, in order. Small ones are written at once, which saves a turn of the event loop each. */
export class FrameWriter {
  readonly #token: Uint8Array;
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(token: Uint8Array) {
    this.#token = token;
  }

  send(header: Header, payload: Bytes = NOTHING): void {
    const head = frameHead(this.#token, { header, payloadBytes: payload.length });
    const length = head.length + payload.length;
    if (this.#waiting === 0 && length < AT_ONCE_BYTES) {
      const frame = new Uint8Array(length);
      frame.set(head);
      frame.set(payload, head.length);
      for (let at = 0; at < length;) at += Deno.stdout.writeSync(frame.subarray(at));
      return;
    }
    this.#waiting++;
    this.#tail = this.#tail.then(() => write(head)).then(() => write(payload)).then(() => {
      this.#waiting--;
    });
    this.#tail.catch(() => Deno.exit(1)); // the main process is gone
  }
}

async function write(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
