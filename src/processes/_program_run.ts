import { Buffer } from "node:buffer";
import { advised } from "../domain/errors.ts";
import { ByteBuffer, decodeText, joinBytes } from "../domain/kit/bytes.ts";
import { counted } from "../domain/kit/text.ts";
import type { Spawned, SpawnOptions } from "../extension/spawn_types.ts";

const TIMEOUT_MS = 120_000, MAX_BYTES = 1 << 20;
const MAX_TIMEOUT_MS = 24 * 3_600_000, LARGEST_BYTES = 32 << 20;
const READ_BYTES = 64 << 10;
/** Another process may hold the pipes open indefinitely after the end of the program. */
const DRAIN_MS = 2_000;
const GRACE_MS = 2_000;
const WATCH_MS = 20;

type MarkedLines = NonNullable<SpawnOptions["asides"]>;

type RunOptions = Pick<
  SpawnOptions,
  "timeoutMs" | "maxBytes" | "signal" | "stop" | "onOutput" | "guessEncoding" | "asides"
>;

interface RunHooks {
  kill(): void;
  askToEnd(): void;
  ended(): Promise<void> | void;
  fault?(): string | null;
  wasEnded?(status: Deno.CommandStatus): boolean;
  /** Only the launcher of the program knows the token that begins a report. The output omits complete reports of at
   * most `LONGEST_LINE` bytes. `onOutput` gets standard error only after the first report. */
  readonly lines?: MarkedLines;
  readonly drainMs?: number;
}

interface EndedProcess extends Pick<Spawned, "stdout" | "stderr" | "ms" | "timedOut" | "truncated"> {
  readonly status: Deno.CommandStatus;
  readonly notes: string[];
}

export function checkCall(argv: readonly string[], { timeoutMs = 1, maxBytes = 1, env = {} }: SpawnOptions): void {
  if (!argv[0]) throw advised(new TypeError("Cannot run a command: it is empty"), "name a program");
  if ([...argv, ...Object.entries(env).flat()].some((text) => text.includes("\0"))) {
    throw advised(
      new TypeError("Cannot run a command: an argument or an environment variable contains a NUL character"),
      "remove the character",
    );
  }
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new RangeError(
      `Cannot run a command for ${timeoutMs} ms: the time must be above 0, and at most ${MAX_TIMEOUT_MS} ms`,
    );
  }
  if (!(maxBytes > 0 && maxBytes <= LARGEST_BYTES)) {
    throw new RangeError(
      `Cannot keep ${maxBytes} bytes of a command's output: the number must be above 0, and at most ${LARGEST_BYTES}`,
    );
  }
}

export async function runToEnd(
  process: Deno.ChildProcess,
  { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, signal, stop, onOutput, guessEncoding = false, asides }: RunOptions,
  hooks: RunHooks,
): Promise<EndedProcess> {
  const { lines, drainMs = DRAIN_MS } = hooks;
  const begun = performance.now(), notes: string[] = [];
  let timedOut = false, isHeard = lines === undefined;
  const kept = { stdout: new CappedOutput(maxBytes), stderr: new CappedOutput(maxBytes) };
  const keep = (name: "stdout" | "stderr", chunk: Uint8Array): void => {
    if (chunk.length === 0) return;
    kept[name].push(chunk);
    if (name === "stdout" || isHeard) onOutput?.(name, chunk.slice());
  };
  let errors: Sink = { push: (chunk) => keep("stderr", chunk), end: () => {} };
  if (asides) errors = new TokenLines(asides, errors);
  if (lines) {
    const hear = (line: string): void => {
      isHeard = true;
      lines.hear(line);
    };
    errors = new TokenLines({ ...lines, hear }, errors);
  }
  const late = setTimeout(() => {
    timedOut = true;
    hooks.kill();
  }, timeoutMs);
  const watch = setInterval(() => {
    const fault = hooks.fault?.() ?? null;
    if (fault === null) return;
    if (!notes.includes(fault)) notes.push(fault);
    hooks.kill();
  }, WATCH_MS);
  let grace: ReturnType<typeof setTimeout> | undefined;
  const stopped = (): void => {
    hooks.askToEnd();
    grace = setTimeout(() => hooks.kill(), GRACE_MS);
  };
  const unheard = [heard(signal, () => hooks.kill()), heard(stop, stopped)];
  const drained = readOutputs(process, (name, chunk) => {
    if (name === "stdout") keep(name, chunk);
    else errors.push(chunk);
  }, drainMs);
  const status = await process.status;
  clearTimeout(late);
  clearTimeout(grace);
  clearInterval(watch);
  unheard.forEach((forget) => forget());
  await hooks.ended();
  await drained();
  errors.end();
  signal?.throwIfAborted();
  const wasEnded = hooks.wasEnded?.(status) ?? status.signal !== null;
  const { stdout, stderr, truncated, notes: guesses } = outputsOf(kept, { guess: guessEncoding, wasEnded });
  const ms = Math.round(performance.now() - begun);
  return { status, stdout, stderr, ms, timedOut, truncated, notes: [...notes, ...guesses] };
}

/** A program need not read all of its input, so this function ignores errors, such as a closed pipe. */
export async function writeInput(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  input: NonNullable<SpawnOptions["input"]>,
): Promise<void> {
  const stream = typeof input === "string" ? new Blob([input]).stream() : input;
  await stream.pipeTo(stdin).catch(() => {});
}

function heard(signal: AbortSignal | undefined, then: () => void): () => void {
  signal?.addEventListener("abort", then);
  if (signal?.aborted) then();
  return () => signal?.removeEventListener("abort", then);
}

/** `take` must copy the bytes that it keeps, because the next read reuses them. */
function readOutputs(
  process: Deno.ChildProcess,
  take: (name: "stdout" | "stderr", chunk: Uint8Array<ArrayBuffer>) => void,
  drainMs: number,
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

async function readAll(
  reader: ReadableStreamBYOBReader,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  let { value: chunk } = await reader.read(new Uint8Array(READ_BYTES));
  for (; chunk && chunk.length > 0; { value: chunk } = await reader.read(new Uint8Array(chunk.buffer))) {
    take(chunk);
  }
}

class CappedOutput {
  readonly #half: number;
  readonly #head = new ByteBuffer();
  readonly #tail = new ByteBuffer();
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#half = Math.max(1, Math.floor(maxBytes / 2));
  }

  push(chunk: Uint8Array): void {
    const room = Math.min(this.#half - this.#head.length, chunk.length);
    this.#head.push(chunk.subarray(0, room));
    const rest = chunk.subarray(room);
    this.#dropped += Math.max(0, rest.length - this.#half);
    this.#tail.push(rest.subarray(-this.#half));
    if (this.#tail.length > 2 * this.#half) this.#trim();
  }

  get truncated(): boolean {
    return this.#dropped > 0 || this.#tail.length > this.#half;
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }

  bytes(): Uint8Array<ArrayBuffer> {
    this.#trim();
    const gap = this.#dropped > 0
      ? new TextEncoder().encode(`\n[Vis omits ${counted(this.#dropped, "byte")}]\n`)
      : new Uint8Array();
    return joinBytes([this.#head.bytes, gap, this.#tail.bytes]);
  }

  #trim(): void {
    this.#dropped += Math.max(0, this.#tail.length - this.#half);
    this.#tail.keepLast(this.#half);
  }
}

/** More output could show another encoding, so Vis guesses only from the whole output of a program that ended
 * normally. */
function outputsOf(
  outputs: Readonly<Record<"stdout" | "stderr", CappedOutput>>,
  { guess, wasEnded }: { readonly guess: boolean; readonly wasEnded: boolean },
): Pick<Spawned, "stdout" | "stderr" | "truncated" | "notes"> {
  const notes: string[] = [];
  const read = (name: "stdout" | "stderr"): string => {
    const output = outputs[name];
    const decoded = !guess || wasEnded || output.truncated ? null : decodeText(output.bytes());
    if (decoded === null || decoded.encoding === "utf-8") return output.text();
    notes.push(`${name} is read as ${decoded.encoding}${decoded.isGuess ? ", a guess" : ""}`);
    return decoded.text;
  };
  const [stdout, stderr] = [read("stdout"), read("stderr")];
  return { stdout, stderr, truncated: outputs.stdout.truncated || outputs.stderr.truncated, notes };
}

interface Sink {
  push(bytes: Uint8Array): void;
  end(): void;
}

const LONGEST_LINE = 64 << 10;

class TokenLines implements Sink {
  readonly #lines: MarkedLines;
  readonly #next: Sink;
  #held: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  constructor(lines: MarkedLines, next: Sink) {
    this.#lines = lines;
    this.#next = next;
  }

  push(chunk: Uint8Array): void {
    const { token, hear } = this.#lines;
    let bytes = Buffer.concat([this.#held, chunk]);
    for (let at = bytes.indexOf(token); at >= 0; at = bytes.indexOf(token)) {
      this.#next.push(bytes.subarray(0, at));
      const end = bytes.indexOf("\n", at);
      if (end < 0 && bytes.length - at <= LONGEST_LINE) {
        this.#held = bytes.subarray(at);
        return;
      }
      if (end < 0 || end - at > LONGEST_LINE) {
        this.#next.push(bytes.subarray(at, at + token.length));
        bytes = bytes.subarray(at + token.length);
        continue;
      }
      hear(bytes.toString("utf8", at + token.length + 1, end));
      bytes = bytes.subarray(end + 1);
    }
    const kept = this.#partLength(bytes);
    this.#next.push(bytes.subarray(0, bytes.length - kept));
    this.#held = bytes.subarray(bytes.length - kept);
  }

  end(): void {
    this.#next.push(this.#held);
    this.#next.end();
  }

  #partLength(bytes: Buffer): number {
    const { token } = this.#lines;
    let length = Math.min(token.length - 1, bytes.length);
    while (length > 0 && bytes.toString("latin1", bytes.length - length) !== token.slice(0, length)) length--;
    return length;
  }
}
