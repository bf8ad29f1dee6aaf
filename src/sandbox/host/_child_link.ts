import { messageOf } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { type Bytes, type Frame, frameHead, FrameReader, type Header } from "../protocol.ts";
import { ChildExit } from "./_child_exit.ts";
import { cleanText } from "./clean_text.ts";

/** Up to this size, one write of a copy is cheaper than two writes. */
const COPIED_BYTES = 64 << 10;
const READ_BYTES = 256 << 10;
const STDERR_CHARS = 16_384;
const NOTHING: Bytes = new Uint8Array(0);

export interface ChildLinkOptions {
  readonly process: Deno.ChildProcess;
  /** May throw: the child is then killed for what it sent. */
  readonly onFrame: (frame: Frame) => void;
  /** Called before each chunk is read, so that the main process can stop reading while too much is undelivered. */
  readonly mayRead: () => Promise<void> | null;
  /** Called once, after the process has been reaped. */
  readonly onEnd: (exit: ChildExit) => void;
}

/** One child process and the frames to and from it. What it sends is not trusted. */
export class ChildLink {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #options: ChildLinkOptions;
  readonly #ended: Promise<ChildExit>;
  /** Frames that wait for the previous write, to be written together. */
  #waiting: Bytes[] = [];
  #writing = false;
  #stderr = "";
  #killedFor: string | null = null;

  constructor(options: ChildLinkOptions) {
    this.#options = options;
    this.#process = options.process;
    this.#writer = this.#process.stdin.getWriter();
    this.#writer.closed.catch(() => {}); // `status` reports the end
    this.#ended = this.#watch();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Resolves when the process has been reaped and its pipes are closed. */
  get ended(): Promise<ChildExit> {
    return this.#ended;
  }

  /** Never rejects: whoever waits for an answer learns about the end through `onEnd`. Throws RangeError if a limit of
   * frames is exceeded. */
  send(header: Header, payload: Bytes = NOTHING): void {
    this.sendLater(header, payload);
    if (!this.#writing) void this.#write();
  }

  /** Sends it with the next frame: alone, it is not worth waking the child. */
  sendLater(header: Header, payload: Bytes = NOTHING): void {
    const head = frameHead({ header, payloadBytes: payload.length });
    this.#waiting.push(head);
    if (payload.length > 0) this.#waiting.push(payload);
  }

  async #write(): Promise<void> {
    this.#writing = true;
    await null; // everything sent in the same turn becomes one write
    try {
      while (this.#waiting.length > 0) {
        const parts = this.#waiting;
        this.#waiting = [];
        for (const bytes of joinSmall(parts)) await this.#writer.write(bytes);
      }
    } catch { /* `status` reports the end */ }
    this.#writing = false;
  }

  /** SIGKILL, which no loop can delay. The first reason counts. */
  kill(why: string): void {
    this.#killedFor ??= why;
    try {
      this.#process.kill("SIGKILL");
    } catch { /* it has already ended */ }
  }

  async #watch(): Promise<ChildExit> {
    const reading = Promise.all([this.#readFrames(), this.#readErrors().catch(() => {})]);
    const status = await this.#process.status;
    // A child that outlives its launcher notices the end when its input ends.
    const closing = this.#writer.abort().catch(() => {});
    await reading;
    await closing;
    const exit = new ChildExit({ status, stderr: cleanText(this.#stderr), killedFor: this.#killedFor });
    this.#options.onEnd(exit);
    return exit;
  }

  async #readFrames(): Promise<void> {
    const ended = new AbortController();
    void this.#process.status.then(() => ended.abort());
    const frames = new FrameReader();
    const reader = this.#process.stdout.getReader({ mode: "byob" });
    try {
      let { value: chunk } = await reader.read(new Uint8Array(READ_BYTES));
      for (; chunk && chunk.length > 0; { value: chunk } = await reader.read(new Uint8Array(chunk.buffer))) {
        frames.push(chunk, this.#options.onFrame);
        const wait = this.#options.mayRead();
        // A host function that never releases its bytes must not delay the end of the child.
        if (wait) await abortable(wait, ended.signal).catch(() => {});
      }
      if (frames.inFrame) this.kill("it ended in the middle of a message");
    } catch (error) {
      this.kill(messageOf(error));
      await reader.cancel().catch(() => {});
    }
  }

  async #readErrors(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stderr) {
      const room = STDERR_CHARS - this.#stderr.length;
      if (room > 0) this.#stderr += decoder.decode(chunk, { stream: true }).slice(0, room);
    }
  }
}

/** Joins frames into few writes: small neighbours are copied into one, a large payload is written without a copy. */
function joinSmall(parts: readonly Bytes[]): readonly Bytes[] {
  const joined: Bytes[] = [];
  for (let at = 0; at < parts.length;) {
    let end = at, size = 0;
    while (end < parts.length && size + parts[end]!.length <= COPIED_BYTES) size += parts[end++]!.length;
    if (end - at > 1) {
      const bytes = new Uint8Array(size);
      for (let into = 0; at < end; into += parts[at++]!.length) bytes.set(parts[at]!, into);
      joined.push(bytes);
    } else joined.push(parts[at++]!);
  }
  return joined;
}
