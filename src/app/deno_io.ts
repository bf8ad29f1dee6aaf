import type { Io } from "../channels/channel.ts";
import { OutputError, UsageError } from "../domain/errors.ts";
import { fileFault } from "../domain/file_fault.ts";

const MAX_STDIN_BYTES = 16 << 20;
/** What a shell reports for a program that ended because nobody read its output. */
const PIPE_EXIT = 141;

type Target = "stdout" | "stderr";

/** The process's own terminal or pipes. Once the reader of stdout has left (`vis run … | head`), what runs is
 * interrupted as by Ctrl-C and nothing more is written; without a reader of stderr the work goes on. */
export class DenoIo implements Io {
  readonly args: readonly string[];
  readonly stdinIsTerminal = Deno.stdin.isTerminal();
  readonly stdoutIsTerminal = Deno.stdout.isTerminal();
  readonly stderrIsTerminal: boolean;
  readonly stdoutColor: boolean;
  readonly stderrColor: boolean;
  readonly #encoder = new TextEncoder();
  readonly #gone = new Set<Target>();
  readonly #handlers = new Set<() => void>();

  /** `dumb`: the terminal cannot take a line away again, so that nothing may stand on it for a moment only. */
  constructor(args: readonly string[], options: { readonly noColor: boolean; readonly dumb?: boolean }) {
    this.args = args;
    this.stderrIsTerminal = Deno.stderr.isTerminal() && options.dumb !== true;
    this.stdoutColor = !options.noColor && this.stdoutIsTerminal;
    this.stderrColor = !options.noColor && this.stderrIsTerminal;
  }

  readonly stdout = (text: string): void => this.#write("stdout", text);
  readonly stderr = (text: string): void => this.#write("stderr", text);

  readonly columns = (): number => {
    try {
      return Deno.consoleSize().columns;
    } catch {
      return 80;
    }
  };

  /** All of stdin. Throws `UsageError` for what is no text, or too much of it to be a request. */
  async readStdin(): Promise<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const parts: string[] = [];
    let size = 0;
    for await (const bytes of Deno.stdin.readable) {
      size += bytes.length;
      if (size > MAX_STDIN_BYTES) {
        throw new UsageError(`Cannot read stdin: it is longer than ${MAX_STDIN_BYTES >> 20} MB, put it into a file`);
      }
      parts.push(textOf(() => decoder.decode(bytes, { stream: true })));
    }
    return parts.join("") + textOf(() => decoder.decode());
  }

  async askLine(question: string): Promise<string> {
    if (!this.stdinIsTerminal) throw new UsageError("Cannot ask: there is no terminal");
    const { readLine } = await import("./read_line.ts");
    const onInterrupt = (run: () => void) => this.onInterrupt(run);
    return await readLine(question, { stdin: Deno.stdin, write: this.stderr, onInterrupt });
  }

  async askSecret(question: string): Promise<string> {
    if (!this.stdinIsTerminal) throw new UsageError("Cannot ask for a key: there is no terminal, use --key-stdin");
    const { readSecret } = await import("./read_secret.ts");
    return await readSecret(question, { stdin: Deno.stdin, write: this.stderr });
  }

  onInterrupt(run: () => void): () => void {
    const signals: readonly Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
    let times = 0;
    const handler = (): void => {
      if (++times > 1) Deno.exit(130); // the second one does not wait for anything
      run();
    };
    for (const signal of signals) Deno.addSignalListener(signal, handler);
    this.#handlers.add(run);
    return () => {
      this.#handlers.delete(run);
      for (const signal of signals) Deno.removeSignalListener(signal, handler);
    };
  }

  /** The process's exit code, where the program would end with `code`. */
  exitCode(code: number): number {
    return this.#gone.has("stdout") && code !== 1 ? PIPE_EXIT : code;
  }

  #write(target: Target, text: string): void {
    if (this.#gone.has(target)) return;
    const bytes = this.#encoder.encode(text);
    try {
      for (let at = 0; at < bytes.length;) at += Deno[target].writeSync(bytes.subarray(at));
    } catch (error) {
      this.#gone.add(target);
      if (!(error instanceof Deno.errors.BrokenPipe)) {
        if (target === "stderr") return;
        throw new OutputError(`Cannot write to stdout: ${fileFault(error)}`);
      }
      if (target === "stderr") return;
      if (this.#handlers.size === 0) Deno.exit(PIPE_EXIT);
      for (const run of this.#handlers) run();
    }
  }
}

function textOf(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new UsageError("Cannot read stdin as text: it is not UTF-8");
  }
}
