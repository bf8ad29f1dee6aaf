import { matchesKey } from "@earendil-works/pi-tui";
import type { PanelParts } from "./panel.ts";
import { LineInput } from "./line_input.ts";
import { movement } from "./movement.ts";
import { paint } from "./paint.ts";
import { TextView } from "./text_view.ts";

const LEAST_ROWS = 6;

/** A long text with search: / prompts for words, n and N move between matches. */
export class Reader {
  readonly text: TextView;
  #asking: LineInput | null = null;
  #needle = "";
  #told = "";

  constructor(theme?: PanelParts["theme"]) {
    this.text = new TextView(theme);
  }

  /** Whether it handled the key. */
  handle(data: string): boolean {
    if (this.#asking !== null) {
      if (matchesKey(data, "enter")) this.#search(this.#asking.value);
      else this.#asking.handle(data);
      return true;
    }
    this.#told = "";
    const moved = movement(data);
    if (moved !== null) this.text.move(moved);
    else if (data === " ") this.text.move("pageDown");
    else if (data === "/") this.#asking = new LineInput({ prompt: "/", placeholder: "find in this text" });
    else if (data === "n") this.#find(1);
    else if (data === "N") this.#find(-1);
    else return false;
    return true;
  }

  /** Whether it handled Esc. */
  back(): boolean {
    if (this.#asking === null && this.#needle === "") return false;
    this.#asking = null;
    this.#forget();
    return true;
  }

  render(width: number, height: number): string[] {
    const rows = Math.max(1, height - 1);
    const shown = this.text.render(width, rows);
    // A short text makes a short panel, but the panel must not grow and shrink while scrolling.
    while (shown.length < (this.text.fits ? Math.min(rows, LEAST_ROWS) : rows)) shown.push("");
    return [...shown, ...this.#asking?.render(width) ?? [paint.dim(this.#line())]];
  }

  #line(): string {
    const { line, lines } = this.text.where;
    return `${this.#told === "" ? "" : `${this.#told} · `}line ${line.toLocaleString("en")} of ${
      lines.toLocaleString("en")
    }`;
  }

  #search(needle: string): void {
    this.#asking = null;
    this.#needle = needle;
    if (needle === "") this.#forget();
    else this.#tell(this.text.find(needle, { by: 1, again: false }));
  }

  #find(by: 1 | -1): void {
    if (this.#needle !== "") this.#tell(this.text.find(this.#needle, { by, again: true }));
  }

  #tell(found: boolean): void {
    const count = this.text.matches;
    this.#told = found ? `“${this.#needle}” in ${count} ${count === 1 ? "line" : "lines"}` : `no “${this.#needle}”`;
  }

  #forget(): void {
    [this.#needle, this.#told] = ["", ""];
    this.text.find("", { by: 1, again: false });
  }
}
