import { shownRange } from "../../../domain/query/stored_query.ts";
import { Reader } from "../widgets/reader.ts";
import type { TextPart } from "../widgets/text_view.ts";
import { sentParts } from "./_sent_parts.ts";
import { TurnsPanel } from "./_turns_panel.ts";
import type { Query, TurnItem } from "./_turns.ts";
import { matchesKey } from "@earendil-works/pi-tui";

/** What was sent to a model and the result: the stored messages of every iteration, with tokens, cost, times, walls and
 * grants. */
export class Inspector extends TurnsPanel {
  protected readonly empty = "  nothing has been sent yet";
  override readonly rows = 200;
  readonly #reader = new Reader();
  /** The iteration being read, and its texts. */
  #open: { readonly query: Query; readonly position: number; readonly parts: readonly TextPart[] } | null = null;

  get title(): string {
    if (this.#open === null) return "What was sent";
    const { query, position } = this.#open;
    const number = this.turns.queries.findIndex(({ queryId }) => queryId === query.queryId) + 1;
    return `Request ${number} · step ${position + 1} of ${Math.max(query.iterations, position + 1)}`;
  }

  get hint(): string {
    if (this.#open === null) return "Enter shows · → expands · ^R reloads · Esc";
    return "Tab part · ←→ step · / find · c copy part · C all · Esc";
  }

  protected override draw(place: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#open === null) return super.draw(place);
    const status = this.status();
    const below = status === "" ? [] : [status];
    return [...this.#reader.render(place.width, place.height - below.length), ...below];
  }

  protected override back(): void {
    if (this.#open === null) this.close();
    else if (!this.#reader.back()) this.#open = null;
  }

  protected override key(data: string): void {
    if (this.#open === null) return super.key(data);
    if (this.#reader.handle(data)) return;
    const { text } = this.#reader;
    if (matchesKey(data, "tab")) this.#part(text.part + 1);
    else if (matchesKey(data, "shift+tab")) this.#part(text.part - 1);
    else if (matchesKey(data, "left")) this.#read(this.#open.query, this.#open.position - 1);
    else if (matchesKey(data, "right")) this.#read(this.#open.query, this.#open.position + 1);
    else if (data === "c") this.#copy(this.#open.parts.slice(text.part, text.part + 1));
    else if (data === "C") this.#copy(this.#open.parts);
  }

  protected override get clickable(): boolean {
    return this.#open === null;
  }

  protected override choose(item: TurnItem): void {
    if (item.kind === "earlier") return this.turns.move("up");
    if (item.kind === "step") return this.#read(item.query, item.step.position);
    if (this.turns.isOpen(item.query)) this.turns.fold(item.query);
    else this.turns.unfold(item.query);
  }

  #part(part: number): void {
    const count = this.#open?.parts.length ?? 0;
    if (count > 0) this.#reader.text.go((part + count) % count);
  }

  #read(query: Query, position: number): void {
    if (position < 0 || position >= shownRange(query).limit) return;
    const { conversations } = this.parts.session();
    this.load("iteration", {
      work: async () => {
        const [[iteration], messages] = await Promise.all([
          conversations.iterations(query.queryId, { after: position - 1, limit: 1 }),
          conversations.sentMessages(query.queryId, position),
        ]);
        return iteration === undefined ? null : sentParts(iteration, messages ?? []);
      },
      then: (parts) => {
        // Past the last one.
        if (parts === null) return;
        const part = this.#open === null ? 0 : this.#reader.text.part;
        this.#open = { query, position, parts };
        this.#reader.text.show(parts);
        if (part > 0) this.#reader.text.go(Math.min(part, parts.length - 1));
      },
    });
  }

  #copy(parts: readonly TextPart[]): void {
    const text = parts.length === 1
      ? parts[0]?.text ?? ""
      : parts.map(({ head, text }) => `=== ${head}\n${text}\n`).join("\n");
    this.parts.act.copy(text);
  }
}
