import { Buffer } from "node:buffer";
import type { SpawnOptions } from "../extension/spawned.ts";
import { CappedOutput } from "./_capped_output.ts";

const READ_BYTES = 64 << 10;
/** For pipes that something still holds open after the end of the program: nothing may wait for them indefinitely. */
const DRAIN_MS = 2_000;

interface Options {
  readonly input: NonNullable<SpawnOptions["input"]> | null;
  readonly maxBytes: number;
  readonly onOutput: NonNullable<SpawnOptions["onOutput"]> | null;
  /** What standard error begins with once the program is about to start; it is not part of the output. */
  readonly mark: string;
}

/** The input and the outputs of a program, from its start on. */
export class ProgramStreams {
  readonly stdout: CappedOutput;
  readonly stderr: CappedOutput;
  readonly #process: Deno.ChildProcess;
  readonly #options: Options;
  readonly #mark: Buffer;
  /** Standard error until the mark is complete or cannot be one. */
  #head: Buffer<ArrayBufferLike> | null = Buffer.alloc(0);
  #marked = false;

  constructor(process: Deno.ChildProcess, options: Options) {
    this.#process = process;
    this.#options = options;
    this.#mark = Buffer.from(options.mark);
    this.stdout = new CappedOutput(options.maxBytes);
    this.stderr = new CappedOutput(options.maxBytes);
  }

  /** Whether the mark was seen: if not, nothing of the program ran, and the error output says why. */
  get marked(): boolean {
    return this.#marked;
  }

  /** Begins to write and read; the returned function waits for the ends of both outputs. */
  start(): () => Promise<void> {
    const { input } = this.#options;
    if (input !== null) void writeInput(this.#process.stdin, input);
    const ended = readOutputs(this.#process, (name, chunk) => this.#take(name, chunk));
    return async () => {
      await ended();
      if (this.#head !== null) this.#keep("stderr", this.#head);
    };
  }

  #take(name: "stdout" | "stderr", chunk: Uint8Array): void {
    if (name === "stdout" || this.#head === null) return this.#keep(name, chunk);
    this.#head = Buffer.concat([this.#head, chunk]);
    const begun = this.#head.subarray(0, this.#mark.length);
    if (begun.length < this.#mark.length && this.#mark.subarray(0, begun.length).equals(begun)) return;
    this.#marked = begun.equals(this.#mark);
    const rest = this.#marked ? this.#head.subarray(this.#mark.length) : this.#head;
    this.#head = null;
    if (rest.length > 0) this.#keep(name, rest);
  }

  #keep(name: "stdout" | "stderr", bytes: Uint8Array): void {
    this[name].push(bytes);
    if (name === "stdout" || this.#marked) this.#options.onOutput?.(name, Uint8Array.from(bytes));
  }
}

/** Hands pieces of both outputs to `take`, which must copy what it keeps; the returned function waits for their ends. */
export function readOutputs(
  process: Deno.ChildProcess,
  take: (name: "stdout" | "stderr", chunk: Uint8Array<ArrayBuffer>) => void,
  { drainMs = DRAIN_MS } = {},
): () => Promise<void> {
  const readers = (["stdout", "stderr"] as const).map((name) => {
    const reader = process[name].getReader({ mode: "byob" });
    return { reader, done: readAll(reader, (chunk) => take(name, chunk)).catch(() => {}) };
  });
  return async () => {
    const timer = setTimeout(() => readers.forEach(({ reader }) => void reader.cancel().catch(() => {})), drainMs);
    await Promise.all(readers.map(({ done }) => done));
    clearTimeout(timer);
  };
}

/** A program need not read all of its input. */
export async function writeInput(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  input: NonNullable<SpawnOptions["input"]>,
): Promise<void> {
  const stream = typeof input === "string" ? new Blob([input]).stream() : input;
  await stream.pipeTo(stdin).catch(() => {});
}

/** Calls `then` when the signal aborts, or immediately if it has; the returned function unsubscribes. */
export function heard(signal: AbortSignal | undefined, then: () => void): () => void {
  signal?.addEventListener("abort", then);
  if (signal?.aborted) then();
  return () => signal?.removeEventListener("abort", then);
}

async function readAll(
  reader: ReadableStreamBYOBReader,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  let { value: chunk } = await reader.read(new Uint8Array(READ_BYTES));
  for (; chunk && chunk.length > 0; { value: chunk } = await reader.read(new Uint8Array(chunk.buffer))) {
    take(chunk);
  }
}
