import process from "node:process";
import { ProcessTerminal } from "@earendil-works/pi-tui";

/** The terminal of this process. Output to a closed terminal is dropped without an error. */
export class OwnTerminal extends ProcessTerminal {
  readonly #gone: () => void;
  #resized: () => void = () => {};

  /** `gone` is called at most once, when the terminal is closed. */
  constructor(gone: () => void) {
    super();
    const told = { yet: false };
    this.#gone = () => {
      if (!told.yet) gone();
      told.yet = true;
    };
  }

  override start(onInput: (data: string) => void, onResize: () => void): void {
    process.stdin.once("end", this.#gone);
    process.stdin.on("error", this.#gone);
    process.stdout.on("error", this.#gone);
    this.#resized = onResize;
    process.on("SIGWINCH", this.#resized); // the runtime of the executable emits no "resize"
    super.start(onInput, onResize);
  }

  override stop(): void {
    process.off("SIGWINCH", this.#resized);
    this.#try(() => super.stop());
  }

  override write(data: string): void {
    this.#try(() => super.write(data));
  }

  override hideCursor(): void {
    this.write("\x1b[?25l");
  }

  override showCursor(): void {
    this.write("\x1b[?25h");
  }

  /** Some runtimes throw where others emit an event. */
  #try(work: () => void): void {
    try {
      work();
    } catch {
      this.#gone();
    }
  }
}
