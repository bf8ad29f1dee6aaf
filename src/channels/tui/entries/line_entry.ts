import { DrawnEntry } from "./drawn_entry.ts";
import { wrapped } from "../text/wrapped.ts";

/** A remark of the program, such as how a query ended. */
export class LineEntry extends DrawnEntry {
  readonly #text: string;
  readonly #paint: (text: string) => string;

  constructor(text: string, paint: (text: string) => string) {
    super();
    this.#text = text;
    this.#paint = paint;
  }

  protected draw(width: number): readonly string[] {
    return [...wrapped(this.#text, width).map(this.#paint), ""];
  }
}
