import { Input } from "@earendil-works/pi-tui";
import { harmlessText } from "../../../domain/kit/text.ts";
import { paint } from "./paint.ts";

const MOST = 2_000;

/** A one-line input; no paste can insert control sequences. */
export class LineInput {
  readonly #input: Input;

  constructor({ prompt, placeholder = "", value = "" }: {
    readonly prompt: string;
    readonly placeholder?: string;
    readonly value?: string;
  }) {
    this.#input = new Input({ prompt, placeholder, placeholderStyle: paint.dim });
    this.#input.focused = true;
    // Typed text is appended to the value, so the value itself is pasted.
    if (value !== "") this.#input.handleInput(`\x1b[200~${value}\x1b[201~`);
  }

  get value(): string {
    return this.#input.getValue();
  }

  /** Whether it changed the text. */
  handle(data: string): boolean {
    const before = this.value;
    this.#input.handleInput(data);
    const safe = harmlessText(this.value.slice(0, MOST).toWellFormed()).replace(/\s/g, " ");
    if (safe !== this.value) this.#input.setValue(safe);
    return this.value !== before;
  }

  render(width: number): string[] {
    return this.#input.render(width);
  }
}
