import { StdinBuffer, type Terminal } from "@earendil-works/pi-tui";
import xterm from "@xterm/headless";

/** A terminal of a given size that exists in memory only: what is written to it is drawn by the same parser that a real
 * one has, what is typed arrives as its bytes would. */
export class VirtualScreen implements Terminal {
  readonly #xterm: InstanceType<typeof xterm.Terminal>;
  readonly #waiting = new Set<() => void>();
  #stdin: StdinBuffer | null = null;
  #onResize: () => void = () => {};
  #written = "";
  /** Whether it is in use: raw, and another screen than the shell's. */
  started = false;
  /** Writes so far, for frames of which none may be torn. */
  readonly writes: string[] = [];
  kittyProtocolActive = false;

  constructor({ columns = 80, rows = 24 }: { readonly columns?: number; readonly rows?: number } = {}) {
    this.#xterm = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1_000 });
  }

  get columns(): number {
    return this.#xterm.cols;
  }

  get rows(): number {
    return this.#xterm.rows;
  }

  /** Everything that was written, as bytes of a terminal. */
  get raw(): string {
    return this.#written;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.started = true;
    this.#onResize = onResize;
    this.#stdin = new StdinBuffer({ escapeTimeout: 1 });
    this.#stdin.on("data", (data) => onInput(data));
    this.#stdin.on("paste", (text) => onInput(`\x1b[200~${text}\x1b[201~`));
    this.write("\x1b[?2004h");
  }

  stop(): void {
    this.write("\x1b[?2004l");
    this.#stdin?.destroy();
    this.#stdin = null;
    this.started = false;
  }

  drainInput(): Promise<void> {
    return Promise.resolve();
  }

  write(data: string): void {
    this.#written += data;
    this.writes.push(data);
    this.#xterm.write(data, () => {
      for (const wake of [...this.#waiting]) wake();
    });
  }

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
  }
  hideCursor(): void {
    this.write("\x1b[?25l");
  }
  showCursor(): void {
    this.write("\x1b[?25h");
  }
  clearLine(): void {
    this.write("\x1b[K");
  }
  clearFromCursor(): void {
    this.write("\x1b[J");
  }
  clearScreen(): void {
    this.write("\x1b[2J\x1b[H");
  }
  setTitle(title: string): void {
    this.write(`\x1b]0;${title}\x07`);
  }
  setProgress(): void {}

  /** Keys and text as a terminal sends them: "\r" is Enter, "\x1b" Escape, "\x1b[A" the arrow up. */
  type(bytes: string): void {
    this.#stdin?.process(bytes);
  }

  /** Text from the clipboard, marked as such. */
  paste(text: string): void {
    this.type(`\x1b[200~${text}\x1b[201~`);
  }

  resize(columns: number, rows: number): void {
    this.#xterm.resize(columns, rows);
    this.#onResize();
  }

  /** The rows that are seen now, blanks at their ends left out. */
  lines(): readonly string[] {
    const { active } = this.#xterm.buffer;
    return Array.from(
      { length: this.#xterm.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "",
    );
  }

  /** The dim characters that are seen now. */
  dimmed(): string {
    const { active } = this.#xterm.buffer;
    const rows = Array.from({ length: this.#xterm.rows }, (_, row) => active.getLine(active.viewportY + row));
    const cells = rows.flatMap((line) => Array.from({ length: line?.length ?? 0 }, (_, at) => line?.getCell(at)));
    return cells.map((cell) => cell?.isDim() ? cell.getChars() : "").join("");
  }

  /** What is seen now, as one text. */
  screen(): string {
    return this.lines().join("\n");
  }

  /** Whether the screen of programs is shown, not the one of the shell. */
  get alternate(): boolean {
    return this.#xterm.buffer.active.type === "alternate";
  }

  /** Resolves once the screen has this text or passes the check; rejects with what is on it after half a minute. */
  async until(wanted: string | RegExp | ((screen: string) => boolean), ms = 30_000): Promise<string> {
    const holds = typeof wanted === "function"
      ? wanted
      : (screen: string) => typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen);
    const deadline = performance.now() + ms;
    while (!holds(this.screen())) {
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`Cannot see ${wanted} on the screen:\n${this.screen()}`);
      await this.#change(left);
    }
    return this.screen();
  }

  /** Resolves when everything written so far is drawn. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) => this.#xterm.write("", resolve));
  }

  /** The next drawing, or the end of a time. */
  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }
}
