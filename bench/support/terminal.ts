import { treeOf } from "./process_tree.ts";
import type { Program } from "./programs.ts";

const OVERLAP = 64;

export interface TerminalOptions {
  readonly workspace: string;
  readonly home: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class Terminal {
  readonly begun = performance.now();
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #read: Promise<void>;
  readonly #waiting = new Map<string, (at: number) => void>();
  #end = "";

  constructor({ path, args }: Program, options: TerminalOptions) {
    const words = [path, ...args, ...options.args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    this.#child = new Deno.Command("script", {
      args: ["-q", "-f", "-e", "-c", `stty cols 120 rows 40; exec ${words.join(" ")}`, "/dev/null"],
      cwd: options.workspace,
      env: { VIS_HOME: options.home, TERM: "xterm-256color", SHELL: "/bin/sh", ...options.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#read = this.#follow();
  }

  pids(): readonly number[] {
    return treeOf(this.#child.pid).slice(1);
  }

  async until(text: string, keys = ""): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const begun = performance.now();
    this.#waiting.set(text, (at) => resolve(at - begun));
    if (keys !== "") await this.#writer.write(new TextEncoder().encode(keys));
    void this.#read.then(() => reject(new Error(`Cannot measure the screen: it ended before ${text}`)));
    return await promise;
  }

  async quit(): Promise<void> {
    await this.#writer.write(new TextEncoder().encode("\x03\x03\x04")).catch(() => {});
    await this.#read;
    await this.#writer.close().catch(() => {});
    await this.#child.status;
  }

  async #follow(): Promise<void> {
    for await (const part of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const at = performance.now();
      for (const [wanted, found] of this.#waiting) {
        if (!(this.#end.slice(-(wanted.length - 1)) + part).includes(wanted)) continue;
        this.#waiting.delete(wanted);
        found(at);
      }
      this.#end = (this.#end + part).slice(-OVERLAP);
    }
  }
}
