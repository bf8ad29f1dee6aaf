import { matchesKey } from "@earendil-works/pi-tui";
import { harmlessText } from "../../../domain/kit/text.ts";
import { flat } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { filterInput, type LineInput, List, movement, row } from "./widgets.ts";

interface Inputs {
  readonly texts: readonly string[];
  readonly typed: string;
  readonly use: (text: string) => void;
}

const MOST_TYPED = 200;

export class InputsPanel extends BasePanel {
  readonly title = "Earlier inputs of this folder";
  readonly hint = "type to find · ↑↓ · Enter puts it into the input · Esc";
  readonly #inputs: Inputs;
  readonly #input: LineInput;
  readonly #list = new List<string>({
    key: (text) => text,
    draw: (text, place) => [row(flat(text), place)],
  });

  constructor(parts: PanelParts, inputs: Inputs) {
    super(parts);
    this.#inputs = inputs;
    const isQuery = inputs.typed.length <= MOST_TYPED && !inputs.typed.includes("\n");
    const value = isQuery ? harmlessText(inputs.typed) : "";
    this.#input = filterInput("words of an input", value);
    this.#fill();
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const found = this.#list.render(width, height - 1);
    const none = this.#inputs.texts.length === 0 ? "no earlier inputs" : `no match for “${this.#input.value}”`;
    return [...this.#input.render(width), ...found, ...found.length === 0 ? [this.status(`  ${none}`)] : []];
  }

  protected override key(data: string): void {
    const moved = matchesKey(data, "ctrl+r") ? "down" : movement(data);
    if (moved !== null) this.#list.move(moved);
    else if (matchesKey(data, "enter")) this.#use();
    else if (this.#input.handle(data)) this.#fill();
  }

  protected override click(line: number): void {
    if (this.#list.press(line - 1)) this.#use();
  }

  #fill(): void {
    const words = this.#input.value.toLowerCase().split(/\s+/);
    const found = this.#inputs.texts.filter((text) => words.every((word) => text.toLowerCase().includes(word)));
    this.#list.set(found, { from: "first" });
  }

  #use(): void {
    const text = this.#list.selected;
    if (text !== undefined) this.leaveFor(() => this.#inputs.use(text));
  }
}
