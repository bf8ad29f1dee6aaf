import { DrawnEntry } from "./drawn_entry.ts";
import { requestLines } from "./request_lines.ts";
import type { DisplayOptions } from "./shown.ts";

/** The user's request. */
export class RequestEntry extends DrawnEntry {
  readonly #text: string;
  readonly #label: string;
  readonly #shown: () => DisplayOptions;

  /** `label`: marks a special request; "" for an ordinary one. */
  constructor(text: string, { label = "", shown }: { readonly label?: string; readonly shown: () => DisplayOptions }) {
    super();
    this.#text = text;
    this.#label = label;
    this.#shown = shown;
  }

  protected draw(width: number): readonly string[] {
    return requestLines(this.#text, { label: this.#label, width, shown: this.#shown() });
  }
}
