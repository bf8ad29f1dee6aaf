import assert from "node:assert/strict";
import { join } from "node:path";
import xterm from "@xterm/headless";
import type { User } from "./user.ts";

/** The reason why this machine offers no terminal; empty if it does. */
export const noPty: string = await Promise.try(() =>
  new Deno.Command("script", { args: ["--version"], stdout: "null", stderr: "null" }).output()
).then(({ success }) => success ? "" : "script has no --version", () => "script (util-linux) is not here");

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");

/** The program on a real terminal, whose other end is drawn in memory. A shell runs it and reports afterwards whether
 * its terminal is in its former state. */
export class Pty {
  readonly ended: Promise<{ readonly code: number }>;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #xterm = new xterm.Terminal({ cols: 100, rows: 30, allowProposedApi: true });
  readonly #pidFile: string;
  raw = "";

  constructor(user: User, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#pidFile = join(user.folder, "pid");
    const inner = `echo $$ > ${quoted([this.#pidFile])}; exec ${quoted([...user.launcher.argv, ...args])}`;
    const outer = `stty cols 100 rows 30; was=$(stty -g); sh -c ${quoted([inner])}; code=$?; ` +
      `[ "$was" = "$(stty -g)" ] && echo as it was; exit $code`;
    this.#child = new Deno.Command("script", {
      args: ["-q", "-f", "-e", "-c", outer, "/dev/null"],
      cwd: user.workspace,
      clearEnv: true,
      env: { TERM: "xterm-256color", SHELL: "/bin/sh", ...user.env, ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.ended = this.#read();
  }

  async pid(): Promise<number> {
    return Number(await Deno.readTextFile(this.#pidFile));
  }

  /** Takes the terminal away, as a broken connection does. */
  cut(): void {
    this.#child.kill("SIGKILL");
  }

  async resize(cols: number, rows: number): Promise<void> {
    this.#xterm.resize(cols, rows);
    const tty = await Deno.readLink(`/proc/${await this.pid()}/fd/0`);
    const args = ["-F", tty, "cols", `${cols}`, "rows", `${rows}`];
    assert.ok((await new Deno.Command("stty", { args }).output()).success);
  }

  type(bytes: string): void {
    void this.#writer.write(new TextEncoder().encode(bytes)).catch(() => {});
  }

  screen(): string {
    const { active } = this.#xterm.buffer;
    const rows = Array.from(
      { length: this.#xterm.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true),
    );
    return rows.join("\n");
  }

  get alternate(): boolean {
    return this.#xterm.buffer.active.type === "alternate";
  }

  async until(wanted: string | RegExp | ((screen: string) => boolean)): Promise<string> {
    const end = performance.now() + 20_000;
    const holds = typeof wanted === "function"
      ? wanted
      : (screen: string) => typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen);
    while (!holds(this.screen())) {
      if (performance.now() > end) throw new Error(`Cannot see ${wanted}:\n${this.screen()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this.screen();
  }

  /** Resolves with the program's process once it is stopped. An earlier SIGCONT has no effect. */
  async stopped(): Promise<number> {
    const pid = await this.pid();
    const end = performance.now() + 20_000;
    while (!Deno.readTextFileSync(`/proc/${pid}/stat`).includes(") T ")) {
      if (performance.now() > end) throw new Error(`Cannot see that ${pid} stops:\n${this.screen()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return pid;
  }

  async #read(): Promise<{ readonly code: number }> {
    const decoder = new TextDecoder();
    for await (const bytes of this.#child.stdout) {
      const text = decoder.decode(bytes, { stream: true });
      this.raw += text;
      await new Promise<void>((resolve) => this.#xterm.write(text, resolve));
    }
    const { code } = await this.#child.status;
    await this.#writer.close().catch(() => {});
    return { code };
  }
}
