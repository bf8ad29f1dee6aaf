import { StdinBuffer, type Terminal } from "@earendil-works/pi-tui";
import xterm from "@xterm/headless";

/** A terminal of a given size that exists in memory only. A real terminal's parser draws its output, and typed keys
 * arrive as bytes. */
export class VirtualScreen implements Terminal {
  readonly #xterm: InstanceType<typeof xterm.Terminal>;
  readonly #waiting = new Set<() => void>();
  #stdin: StdinBuffer | null = null;
  #onResize: () => void = () => {};
  #written = "";
  /** Whether the program uses the terminal: raw, and with the alternate screen. */
  started = false;
  /** All writes so far, to check that no frame is torn. */
  readonly writes: string[] = [];
  kittyProtocolActive = false;

  readonly #early: string;

  /** `early` arrives as soon as the program has taken the terminal. */
  constructor({ columns = 80, rows = 24, early = "" }: {
    readonly columns?: number;
    readonly rows?: number;
    readonly early?: string;
  } = {}) {
    this.#early = early;
    this.#xterm = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1_000 });
  }

  get columns(): number {
    return this.#xterm.cols;
  }

  get rows(): number {
    return this.#xterm.rows;
  }

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
    if (this.#early !== "") this.type(this.#early);
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

  /** Sends keys and text as a terminal does: "\r" is Enter, "\x1b" Escape, "\x1b[A" the up arrow. */
  type(bytes: string): void {
    this.#stdin?.process(bytes);
  }

  paste(text: string): void {
    this.type(`\x1b[200~${text}\x1b[201~`);
  }

  resize(columns: number, rows: number): void {
    this.#xterm.resize(columns, rows);
    this.#onResize();
  }

  lines(): readonly string[] {
    const { active } = this.#xterm.buffer;
    return Array.from(
      { length: this.#xterm.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "",
    );
  }

  dimmed(): string {
    const { active } = this.#xterm.buffer;
    const rows = Array.from({ length: this.#xterm.rows }, (_, row) => active.getLine(active.viewportY + row));
    const cells = rows.flatMap((line) => Array.from({ length: line?.length ?? 0 }, (_, at) => line?.getCell(at)));
    return cells.map((cell) => cell?.isDim() ? cell.getChars() : "").join("");
  }

  screen(): string {
    return this.lines().join("\n");
  }

  get alternate(): boolean {
    return this.#xterm.buffer.active.type === "alternate";
  }

  /** Resolves once the screen has this text or passes the check. Rejects with the screen's text after half a minute. */
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
