import { type Bytes, frameHead, type Header } from "../../protocol.ts";

/** How much a pipe accepts at once; more is written without blocking the thread that watches deadlines. */
const AT_ONCE_BYTES = 60_000;
const NOTHING: Bytes = new Uint8Array(0);

/** Writes frames to stdout, in order. Small ones are written immediately, which saves a turn of the event loop each. */
export class FrameWriter {
  readonly #token: Uint8Array;
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;
  #held: Bytes[] | null = null;

  constructor(token: Uint8Array) {
    this.#token = token;
  }

  send(header: Header, payload: Bytes = NOTHING): void {
    const head = frameHead(this.#token, { header, payloadBytes: payload.length });
    if (this.#held) this.#held.push(head, payload);
    else this.#write([head, payload]);
  }

  /** Joins everything that `send` writes into one write. */
  together(send: () => void): void {
    const held: Bytes[] = this.#held = [];
    try {
      send();
    } finally {
      this.#held = null;
    }
    this.#write(held);
  }

  #write(parts: readonly Bytes[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.#waiting === 0 && length < AT_ONCE_BYTES) {
      const bytes = new Uint8Array(length);
      let end = 0;
      for (const part of parts) {
        bytes.set(part, end);
        end += part.length;
      }
      for (let at = 0; at < length;) at += Deno.stdout.writeSync(bytes.subarray(at));
      return;
    }
    this.#waiting++;
    for (const part of parts) this.#tail = this.#tail.then(() => write(part));
    this.#tail = this.#tail.then(() => {
      this.#waiting--;
    });
    this.#tail.catch(() => Deno.exit(1)); // the main process is gone
  }
}

async function write(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
