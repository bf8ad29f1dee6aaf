import { oneLine, visibleText } from "../../../domain/kit/text.ts";

const TICK_MS = 1_000;
/** Shorter work is shown without its time. */
const SHOWN_FROM_MS = 2_000;

/** The last line of a terminal: what is running and for how long. It stays until it is cleared. */
export class LiveLine {
  readonly #write: (text: string) => void;
  readonly #width: () => number;
  readonly #paint: (text: string) => string;
  readonly #now: () => number;
  /** "" if no line is shown. */
  #text = "";
  #since = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor({ write, width, paint, now = Date.now }: {
    readonly write: (text: string) => void;
    readonly width: () => number;
    readonly paint: (text: string) => string;
    readonly now?: () => number;
  }) {
    this.#write = write;
    this.#width = width;
    this.#paint = paint;
    this.#now = now;
  }

  show(text: string): void {
    const line = oneLine(visibleText(text), this.#width() - 1);
    if (line === this.#text) return;
    this.clear();
    this.#text = line;
    this.#since = this.#now();
    this.#write(this.#paint(line));
    this.#timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** Redraws the line with the current time. */
  tick(): void {
    const ms = this.#now() - this.#since;
    if (this.#text === "" || ms < SHOWN_FROM_MS) return;
    const time = ` ${Math.floor(ms / 1000)} s`;
    this.#write(`\r\x1b[2K${this.#paint(`${oneLine(this.#text, this.#width() - 1 - time.length)}${time}`)}`);
  }

  clear(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#text !== "") this.#write("\r\x1b[2K");
    this.#text = "";
  }
}
