import process from "node:process";
import { ProcessTerminal } from "@earendil-works/pi-tui";

/** The terminal of this process. What is written to one that is gone is lost without an error. */
export class OwnTerminal extends ProcessTerminal {
  readonly #gone: () => void;

  /** `gone`: nobody can type or read any more, at most once. */
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
    super.start(onInput, onResize);
  }
}
