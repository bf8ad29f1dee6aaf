import { fstatSync } from "node:fs";
import type { Io } from "../../channels/channel.ts";
import { counted } from "../../domain/kit/text.ts";
import { fileFault, OutputError, UsageError } from "../../domain/errors.ts";
import type { Utf8Pieces } from "../../domain/kit/bytes.ts";
import { unrefTimer } from "../../domain/kit/concurrency.ts";
import { PROCESS_LIMITS } from "../session/process_limits.ts";

const MAX_STDIN_BYTES = 16 << 20;
/** Shells report this exit code for a program that SIGPIPE ended. */
const PIPE_EXIT = 141;
const LAST_WORDS_MS = 1_000;
const CANCELLED_EXIT = 130;
const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM", "SIGHUP"];
const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

type Target = keyof typeof DESCRIPTORS;

/** Windows sets no `TERM`. */
export function dumbTerminal({ TERM = "" }: Readonly<Record<string, string | undefined>>): string | null {
  if (TERM === "dumb") return "TERM is dumb";
  return TERM === "" && Deno.build.os !== "windows" ? "TERM is not set" : null;
}

/** Vis writes to files and pipes in the background, so `drained` must resolve before the process ends. */
export class DenoIo implements Io {
  readonly args: readonly string[];
  readonly stdinIsTerminal = Deno.stdin.isTerminal();
  readonly stdoutIsTerminal = Deno.stdout.isTerminal();
  readonly stderrIsTerminal: boolean;
  readonly stdoutColor: boolean;
  readonly stderrColor: boolean;
  readonly #encoder = new TextEncoder();
  readonly #queues: Readonly<Record<Target, OutputQueue<Target> | null>>;
  readonly #gone = new Set<Target>();
  readonly #handlers = new Set<() => void>();
  #fault: OutputError | null = null;
  #listening = false;
  #draining = false;
  #unheard = false;
  #signals = 0;

  constructor(args: readonly string[], options: { readonly noColor: boolean; readonly dumb?: boolean }) {
    this.args = args;
    this.stderrIsTerminal = Deno.stderr.isTerminal() && options.dumb !== true;
    this.stdoutColor = !options.noColor && this.stdoutIsTerminal;
    this.stderrColor = !options.noColor && this.stderrIsTerminal;
    this.#queues = this.#openQueues();
  }

  readonly stdout = (text: string): void => this.#write("stdout", text);
  readonly stderr = (text: string): void => this.#write("stderr", text);

  readonly columns = (): number => consoleSize().columns;
  readonly rows = (): number => consoleSize().rows;

  readonly stdinIsPiped = (): boolean => {
    try {
      const stdin = fstatSync(0);
      return stdin.isFile() || stdin.isFIFO() || stdin.isSocket();
    } catch {
      return false; // Another program can start Vis with a closed stdin.
    }
  };

  readonly stdinPieces = (): AsyncIterable<Uint8Array> => Deno.stdin.readable;

  async readStdin(): Promise<string> {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const { Utf8Pieces } = await import("../../domain/kit/bytes.ts");
    const utf8 = new Utf8Pieces();
    const parts: string[] = [];
    let size = 0;
    for await (const bytes of utf8.of(Deno.stdin.readable)) {
      size += bytes.length;
      if (size > MAX_STDIN_BYTES) {
        throw new UsageError(
          `Cannot read stdin: it has more than ${
            MAX_STDIN_BYTES >> 20
          } MiB, the limit; write the input to a file, and name the file in the request`,
        );
      }
      parts.push(decoder.decode(bytes, { stream: true }));
    }
    const text = parts.join("");
    if (!text.includes("\0")) {
      for (const line of encodingLines(utf8)) this.stderr(`vis: ${line}\n`);
    }
    return text;
  }

  async askLine(question: string, { typedNow = false } = {}): Promise<string> {
    if (!this.stdinIsTerminal) {
      throw new UsageError("Cannot ask you: stdin is not a terminal; run the command in a terminal");
    }
    const [{ readFreshLine, readLine }, { dropTyped }] = await Promise.all([
      import("./read_line.ts"),
      import("./read_line.ts"),
    ]);
    const onInterrupt = (run: () => void) => this.onInterrupt(run);
    const terminal = { stdin: Deno.stdin, write: this.stderr, onInterrupt };
    if (!typedNow || dropTyped()) return await readLine(question, terminal);
    const [number = 0] = crypto.getRandomValues(new Uint16Array(1));
    return await readFreshLine(question, { ...terminal, code: `${100 + number % 900}` });
  }

  async askSecret(question: string): Promise<string> {
    if (!this.stdinIsTerminal) {
      throw new UsageError("Cannot ask for a key: stdin is not a terminal; pipe the key in with --key-stdin");
    }
    const { readSecret } = await import("./read_line.ts");
    return await readSecret(question, { stdin: Deno.stdin, write: this.stderr });
  }

  onInterrupt(run: () => void): () => void {
    this.#listen();
    this.#handlers.add(run);
    return () => void this.#handlers.delete(run);
  }

  /** Rejects with `OutputError` after a failed write to stdout, except if stdout is a terminal or a pipe without a
   * reader. */
  async drained(): Promise<void> {
    const { stdout, stderr } = this.#queues;
    this.#draining = true;
    const timer = this.#unheard ? setTimeout(() => Deno.exit(CANCELLED_EXIT), LAST_WORDS_MS) : undefined;
    while (stdout?.busy || stderr?.busy) await Promise.all([stdout?.busy, stderr?.busy]);
    clearTimeout(timer);
    if (this.#fault) throw this.#fault;
  }

  exitCode(code: number): number {
    return this.#gone.has("stdout") && code !== 1 ? PIPE_EXIT : code;
  }

  /** A signal must not cut off the closing of work, so the process listens until its end. */
  #listen(): void {
    if (this.#listening) return;
    const { ignoresHangup } = PROCESS_LIMITS.hold();
    this.#listening = true;
    for (const signal of SIGNALS.filter((signal) => signal !== "SIGHUP" || !ignoresHangup)) {
      Deno.addSignalListener(signal, () => this.#signalled(signal));
    }
  }

  #signalled(signal: Deno.Signal): void {
    const isFirst = this.#signals++ === 0;
    // A closed terminal may send SIGHUP more than once, so a repeated SIGHUP does not end the process while work runs.
    if (!isFirst && (this.#draining || signal !== "SIGHUP")) Deno.exit(CANCELLED_EXIT);
    if (!isFirst) return;
    // All work has ended, so Vis only limits the wait for a stalled reader.
    if (this.#draining) return unrefTimer(setTimeout(() => Deno.exit(CANCELLED_EXIT), LAST_WORDS_MS));
    this.#unheard = this.#handlers.size === 0;
    this.#interrupt();
  }

  #interrupt(): void {
    for (const run of this.#handlers) run();
  }

  #openQueues(): Readonly<Record<Target, OutputQueue<Target> | null>> {
    const queue = (): OutputQueue<Target> =>
      new OutputQueue({
        write: (target, bytes) => Deno[target].write(bytes),
        failed: (target, error) => this.#leave(target, error),
      });
    const stdout = this.stdoutIsTerminal ? null : queue();
    if (Deno.stderr.isTerminal()) return { stdout, stderr: null };
    return { stdout, stderr: stdout !== null && isOneFile() ? stdout : queue() };
  }

  #write(target: Target, text: string): void {
    if (this.#gone.has(target)) return;
    const queue = this.#queues[target];
    if (queue) return queue.add(target, text);
    const bytes = this.#encoder.encode(text);
    try {
      for (let at = 0; at < bytes.length;) at += Deno[target].writeSync(bytes.subarray(at));
    } catch (error) {
      this.#leave(target, error);
    }
  }

  #leave(target: Target, error: unknown): void {
    if (this.#gone.has(target)) return;
    this.#gone.add(target);
    if (target === "stderr") return;
    if (!this.stdoutIsTerminal && !(error instanceof Deno.errors.BrokenPipe)) {
      this.#fault = new OutputError(`Cannot write to stdout: ${fileFault(error)}`);
      return;
    }
    this.#interrupt();
  }
}

function encodingLines({ encoding, isGuess, replaced }: Utf8Pieces): readonly string[] {
  const name = encoding === "utf-8" ? "UTF-8" : encoding;
  return [
    ...isGuess ? [`Vis reads stdin as ${name}, a guess`] : [],
    ...replaced > 0
      ? [`Vis replaced ${counted(replaced, "character")} of stdin with U+FFFD: the bytes are not ${name}`]
      : [],
  ];
}

/** If stdout and stderr are the same pipe or file, as with `2>&1`, output to both must keep its order. */
function isOneFile(): boolean {
  const [out, err] = [fstatSync(DESCRIPTORS.stdout), fstatSync(DESCRIPTORS.stderr)];
  return out.dev === err.dev && out.ino === err.ino;
}

/** A stalled reader must not stop the handlers of signals, so the queue does not block the program. */
export class OutputQueue<T> {
  readonly #write: (target: T, bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
  readonly #failed: (target: T, error: unknown) => void;
  readonly #encoder = new TextEncoder();
  #waiting: { readonly target: T; readonly texts: string[] }[] = [];
  #writing: Promise<void> | null = null;

  constructor({ write, failed }: {
    readonly write: (target: T, bytes: Uint8Array<ArrayBuffer>) => Promise<number>;
    readonly failed: (target: T, error: unknown) => void;
  }) {
    this.#write = write;
    this.#failed = failed;
  }

  add(target: T, text: string): void {
    if (text === "") return; // Without a write to wait for, the queue would stay busy.
    const last = this.#waiting.at(-1);
    if (last?.target === target) last.texts.push(text);
    else this.#waiting.push({ target, texts: [text] });
    this.#writing ??= this.#writeAll();
  }

  get busy(): Promise<void> | null {
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { target, texts } = next;
      const bytes = this.#encoder.encode(texts.join(""));
      try {
        for (let at = 0; at < bytes.length;) at += await this.#write(target, bytes.subarray(at));
      } catch (error) {
        this.#failed(target, error);
      }
    }
    this.#writing = null;
  }
}

function consoleSize(): { readonly columns: number; readonly rows: number } {
  try {
    return Deno.consoleSize();
  } catch {
    return { columns: 80, rows: 24 };
  }
}
