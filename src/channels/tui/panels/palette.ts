import { fuzzyFilter, matchesKey, visibleWidth } from "@earendil-works/pi-tui";
import type { Outgoing } from "../input/outgoing.ts";
import { fitted, flat } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { filterInput, List, movement, row } from "./widgets.ts";

export interface PaletteCommand {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly detail: string;
  readonly keys: string;
  readonly needsWords?: boolean;
  /** If true, Vis reads the files of prompts again before it runs the command. */
  readonly ofFile?: boolean;
  /** If true, the words of the command go to the model, with images and pasted texts. */
  readonly asks?: boolean;
  run(words: string, outgoing?: Outgoing): void | Promise<void>;
}

const MOST_COLUMN = 28;

export class Palette extends BasePanel {
  readonly title = "Commands";
  readonly hint = "type to find · ↑↓ · Enter runs · Esc";
  override readonly rows: number;
  readonly #entries: readonly PaletteCommand[];
  readonly #column: number;
  readonly #input = filterInput("what to do");
  readonly #list = new List<PaletteCommand>({
    key: ({ name }) => name,
    draw: ({ name, detail, keys }, place) => [
      row(fitted(flat(name), { width: this.#column, pad: true }), {
        detail: flat(detail),
        facts: [flat(keys)],
        ...place,
      }),
    ],
  });

  constructor(parts: PanelParts, entries: readonly PaletteCommand[]) {
    super(parts);
    this.#entries = entries;
    this.rows = entries.length + 1;
    this.#column = Math.min(MOST_COLUMN, Math.max(0, ...entries.map(({ name }) => visibleWidth(flat(name)))));
    this.#list.set(entries);
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const found = this.#list.render(width, height - 1);
    const none = this.#list.items.length === 0 ? [this.status(`  no match for “${this.#input.value}”`)] : [];
    return [...this.#input.render(width), ...found, ...none];
  }

  protected override key(data: string): void {
    const moved = movement(data);
    if (moved !== null) this.#list.move(moved);
    else if (matchesKey(data, "enter")) this.#run();
    else if (this.#input.handle(data)) {
      const named = fuzzyFilter([...this.#entries], this.#input.value, ({ name }) => name);
      const others = fuzzyFilter([...this.#entries], this.#input.value, ({ name, detail }) => `${name} ${detail}`);
      this.#list.set([...new Set([...named, ...others])], { from: "first" });
    }
  }

  protected override click(line: number): void {
    if (this.#list.press(line - 1)) this.#run();
  }

  #run(): void {
    const entry = this.#list.selected;
    if (entry === undefined) return;
    this.leaveFor(() => entry.needsWords ? this.parts.act.compose(`/${entry.name} `) : entry.run(""));
  }
}
