import { matchesKey } from "@earendil-works/pi-tui";
import type { PanelParts } from "../widgets/panel.ts";
import { BasePanel } from "../widgets/base_panel.ts";
import { LineInput } from "../widgets/line_input.ts";
import { movement } from "../widgets/movement.ts";
import { readSteps } from "./_step.ts";
import { type TurnItem, TurnList } from "./_turns.ts";

/** A panel for choosing an iteration of the branch on the screen. */
export abstract class TurnsPanel extends BasePanel {
  protected readonly turns: TurnList;
  readonly #input = new LineInput({ prompt: "> ", placeholder: "words of a request" });
  #loaded = false;

  constructor(parts: PanelParts) {
    super(parts);
    this.turns = new TurnList((query, range) =>
      this.load(`${query.queryId} ${range.after}`, {
        work: () => readSteps(parts.session().conversations, { queryId: query.queryId, ...range }),
        then: (steps) => this.turns.add(query, steps),
      })
    );
    this.#read();
  }

  /** Shown if the branch has no query. */
  protected abstract readonly empty: string;
  protected abstract choose(item: TurnItem): void;

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#loaded && this.turns.queries.length === 0) return [this.status(this.empty)];
    const empty = this.turns.list.items.length === 0;
    const below = this.below(this.#loaded && empty ? "  no request has these words" : "", { empty });
    return [...this.#input.render(width), ...this.turns.list.render(width, height - 1 - below.length), ...below];
  }

  protected override key(data: string): void {
    const moved = movement(data);
    const item = this.turns.list.selected;
    if (moved !== null) this.turns.move(moved);
    else if (matchesKey(data, "ctrl+r")) this.#read();
    else if (item !== undefined && matchesKey(data, "enter")) this.choose(item);
    else if (item !== undefined && matchesKey(data, "right")) this.turns.unfold(item.query);
    else if (item !== undefined && matchesKey(data, "left")) this.turns.fold(item.query);
    else if (this.#input.handle(data)) this.turns.filter(this.#input.value);
  }

  protected override click(line: number): void {
    const { list } = this.turns;
    if (list.press(line - 1) && list.selected) this.choose(list.selected);
  }

  /** Reads everything again: a query may be running. */
  #read(): void {
    const branch = this.parts.branch();
    if (branch === null) this.#loaded = true;
    else {
      this.load("queries", {
        work: () => this.parts.session().conversations.queries(branch),
        then: (queries) => {
          this.#loaded = true;
          this.turns.set(queries);
        },
      });
    }
  }
}
