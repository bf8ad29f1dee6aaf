import { matchesKey } from "@earendil-works/pi-tui";
import type { BackgroundProgram } from "../../../domain/admin_reports.ts";
import { amounts, flat, paint } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { Reader } from "./reader.ts";
import { List, movement, row } from "./widgets.ts";

const REFRESH_MS = 500;

export class JobsPanel extends BasePanel {
  readonly #reader: Reader;
  readonly #refreshing: ReturnType<typeof setInterval>;
  readonly #list = new List<BackgroundProgram>({
    key: ({ id }) => id,
    draw: ({ title, startedAt, output }, place) => [
      row(flat(title), { detail: flat(lastLine(output)), facts: [amounts.time(Date.now() - startedAt)], ...place }),
    ],
  });
  #shown: BackgroundProgram | null = null;
  #output = "";

  constructor(parts: PanelParts) {
    super(parts);
    this.#reader = new Reader(parts.theme);
    this.#refreshing = setInterval(() => this.#refresh(), REFRESH_MS);
    this.#refresh();
  }

  get title(): string {
    return this.#shown === null ? "Commands in the background" : flat(this.#shown.title, 80);
  }

  get hint(): string {
    return this.#shown === null
      ? "Enter shows the output · Delete stops · Esc"
      : "↑↓ PgUp PgDn · / find · Delete stops · Esc";
  }

  override left(): void {
    clearInterval(this.#refreshing);
    super.left();
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#shown !== null) return this.#reader.render(width, height);
    if (this.#list.items.length === 0) return [paint.dim("no command runs in the background")];
    return this.#list.render(width, height);
  }

  protected override key(data: string): void {
    const moved = movement(data);
    const program = this.#shown ?? this.#list.selected;
    if (matchesKey(data, "delete")) program?.stop();
    else if (this.#shown !== null) this.#reader.handle(data);
    else if (moved !== null) this.#list.move(moved);
    else if (matchesKey(data, "enter")) this.#show(program);
  }

  protected override click(line: number): void {
    if (this.#list.press(line)) this.#show(this.#list.selected);
  }

  protected override back(): void {
    if (this.#shown === null) this.close();
    else if (!this.#reader.back()) this.#shown = null;
  }

  #show(program: BackgroundProgram | undefined): void {
    this.#shown = program ?? null;
    this.#output = "";
    this.#reader.text.show([]);
    this.#refresh();
  }

  #refresh(): void {
    const branch = this.parts.branch();
    this.#list.set(branch === null ? [] : this.parts.session().conversations.programs(branch));
    const output = this.#shown?.output ?? "";
    if (output !== this.#output) this.#reader.text.grow([{ text: output }]);
    this.#output = output;
    this.parts.act.redraw();
  }
}

function lastLine(output: string): string {
  return output.trimEnd().split("\n").at(-1) ?? "";
}
