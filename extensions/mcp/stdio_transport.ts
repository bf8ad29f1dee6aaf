import type { ServerMessages } from "./server_messages.ts";
import { type StdioConfig, WORKSPACE } from "./settings.ts";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { ByteBuffer, type EnvironmentView, JsonTooLarge, reasonOf } from "@vis/extension";
import { resolve } from "node:path";

type Spawn = NonNullable<EnvironmentView["spawn"]>;

const MAX_LINE = 16 << 20, MAX_UNASKED = 64 << 20;
const KEPT_STDERR = 4_000, LOGGED_STDERR = 64_000;
const MOST_UNASKED = 10_000;
const MOST_GARBAGE = 200, DAY_MS = 24 * 3_600_000;

export class StdioTransport implements Transport {
  /** For a transport with these keys, the library falls back to the older protocol if the program does not respond to
   * the first request. */
  readonly stderr = null;
  readonly pid = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #spawn: Spawn;
  readonly #config: StdioConfig;
  readonly #workspace: string;
  readonly #onStderr: (text: string) => void;
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();
  readonly #answers: ServerMessages;
  readonly #lines = new LineSplitter({ maxLine: MAX_LINE, maxUnasked: MAX_UNASKED });
  readonly #pipe = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  readonly #input = this.#pipe.writable.getWriter();
  readonly #stderr = new TextDecoder();
  #tail = "";
  #logged = 0;
  #garbage: string[] = [];
  #garbageCount = 0;
  #messages = 0;
  #why: string | null = null;
  #ended: Promise<void> | null = null;

  constructor(
    { spawn, config, workspace, answers, onStderr }: {
      readonly spawn: Spawn;
      readonly config: StdioConfig;
      readonly workspace: string;
      readonly answers: ServerMessages;
      readonly onStderr: (text: string) => void;
    },
  ) {
    this.#spawn = spawn;
    this.#config = config;
    this.#workspace = workspace;
    this.#answers = answers;
    this.#onStderr = onStderr;
  }

  get why(): string {
    const wrong = this.#garbage[0] === undefined
      ? ""
      : `it wrote ${this.#garbageCount === 1 ? "a line" : `${this.#garbageCount} lines`} that ${
        this.#garbageCount === 1 ? "is not a message" : "are not messages, the first"
      }: ${this.#garbage[0]}`;
    return [this.#why, wrong].filter((one) => one).join(", and ");
  }

  get ended(): boolean {
    return this.#why !== null;
  }

  start(): Promise<void> {
    const { command, args, env, cwd = null, network, read, write } = this.#config;
    const absolute = (path: string): string => resolve(this.#workspace, path);
    const placed = (text: string): string => text.replaceAll(WORKSPACE, this.#workspace);
    const running = this.#spawn([command, ...args].map(placed), {
      cwd,
      env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, placed(value)])),
      input: this.#pipe.readable,
      answered: true,
      lifetime: "conversation",
      timeoutMs: DAY_MS,
      maxBytes: KEPT_STDERR, // A smaller limit would cut off the reason of a failed start.
      stop: this.#stop.signal,
      signal: this.#kill.signal,
      network,
      read: read.map(absolute),
      write: write.map(absolute),
      onOutput: (output, bytes) => output === "stdout" ? this.#take(bytes) : this.#takeStderr(bytes),
    });
    this.#ended = running.then(
      ({ code, signal }) => this.#end(`it ended with ${signal ?? `code ${code}`}${this.#lastWords()}`),
      (error: unknown) => this.#end(`Vis ${reasonOf(error)}`), // Messages of `spawn` begin with "Cannot".
    );
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#why !== null) throw new Error(this.#why);
    this.#lines.asked();
    this.#messages = 0;
    this.#answers.sent(message);
    // A server might not read its input, so Vis does not await the write.
    this.#input.write(new TextEncoder().encode(serializeMessage(message))).catch(() => {});
    await Promise.resolve();
  }

  async close(): Promise<void> {
    this.#input.close().catch(() => {});
    this.#stop.abort();
    await this.#ended;
  }

  #take(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#why !== null) return;
    try {
      for (const line of this.#lines.push(bytes)) if (line.trim() !== "" && this.#why === null) this.#message(line);
    } catch (error) {
      this.#fail(
        error instanceof JsonTooLarge ? `it wrote a message that is too large: ${error.what}` : reasonOf(error),
      );
    }
  }

  #message(line: string): void {
    if (++this.#messages > MOST_UNASKED) {
      return this.#fail(`it wrote more than ${MOST_UNASKED} unsolicited messages, the limit`);
    }
    let messages: readonly JSONRPCMessage[];
    try {
      const read = this.#answers.read(line);
      if (read === null) return this.#log(`an error that answers no request: ${line.slice(0, 1_000)}\n`);
      messages = [read].flat().map(parseJSONRPCMessage);
    } catch (error) {
      if (error instanceof JsonTooLarge) throw error;
      if (this.#garbage.length < 1) this.#garbage.push(line.slice(0, 200));
      if (++this.#garbageCount >= MOST_GARBAGE) this.#fail("it does not speak the protocol");
      return;
    }
    for (const message of messages) this.onmessage?.(message);
  }

  #takeStderr(bytes: Uint8Array<ArrayBuffer>): void {
    const text = this.#stderr.decode(bytes, { stream: true });
    this.#tail = `${this.#tail}${text}`.slice(-KEPT_STDERR);
    this.#log(text);
  }

  #log(text: string): void {
    if (this.#logged >= LOGGED_STDERR) return;
    this.#logged += text.length;
    this.#onStderr(text);
  }

  #lastWords(): string {
    const text = failureText(this.#tail);
    return text === "" ? "" : `: ${text}`;
  }

  #fail(why: string): void {
    this.#why ??= why;
    this.#kill.abort(new Error(why));
  }

  #end(why: string): void {
    this.#why ??= why;
    this.#input.close().catch(() => {});
    this.onclose?.();
  }
}

const FAILURE = /^(?:[\w.]*(?:error|exception)\b[^:]*:|fatal:)/i;
const FRAME = /^\s+at /;
// deno-lint-ignore no-control-regex
const COLOURS = /\x1b\[[\d;]*m/g;
const FAILURE_LINES = 5, FAILURE_CHARS = 600;

/** Returns the lines from the last one that names an error, without its stack; without such a line, the last lines. */
export function failureText(output: string): string {
  const lines = output.replace(COLOURS, "").split(/\r?\n/).filter((line) => line.trim() !== "" && !FRAME.test(line));
  const from = lines.findLastIndex((line) => FAILURE.test(line));
  if (from < 0) return lines.slice(-FAILURE_LINES).join("\n").slice(-FAILURE_CHARS).trim();
  return lines.slice(from, from + FAILURE_LINES).join("\n").slice(0, FAILURE_CHARS).trim();
}

export class LineSplitter {
  readonly #maxLine: number;
  readonly #maxUnasked: number;
  readonly #line = new ByteBuffer();
  #unasked = 0;

  constructor({ maxLine, maxUnasked }: { readonly maxLine: number; readonly maxUnasked: number }) {
    this.#maxLine = maxLine;
    this.#maxUnasked = maxUnasked;
  }

  asked(): void {
    this.#unasked = 0;
  }

  push(bytes: Uint8Array<ArrayBuffer>): readonly string[] {
    this.#unasked += bytes.length;
    if (this.#unasked > this.#maxUnasked) {
      throw new RangeError(`It wrote ${this.#unasked} unsolicited bytes, and the limit is ${this.#maxUnasked}`);
    }
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      lines.push(this.#end(bytes.subarray(from, end)));
      from = end + 1;
    }
    this.#keep(bytes.subarray(from));
    return lines;
  }

  #end(last: Uint8Array<ArrayBuffer>): string {
    this.#keep(last);
    const text = new TextDecoder().decode(this.#line.bytes);
    this.#line.clear();
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }

  #keep(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#line.length + bytes.length > this.#maxLine) {
      throw new RangeError(`It wrote a message of more than ${this.#maxLine} bytes, the limit`);
    }
    this.#line.push(bytes);
  }
}
