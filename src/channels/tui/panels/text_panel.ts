import { BasePanel } from "../widgets/base_panel.ts";
import type { PanelParts } from "../widgets/panel.ts";
import { Reader } from "../widgets/reader.ts";
import type { TextPart } from "../widgets/text_view.ts";

/** A text to read and search, such as the help. */
export class TextPanel extends BasePanel {
  readonly title: string;
  readonly hint = "↑↓ PgUp PgDn · / find · Esc";
  override readonly rows = 200;
  readonly #reader: Reader;

  constructor(parts: PanelParts, { title, texts }: { readonly title: string; readonly texts: readonly TextPart[] }) {
    super(parts);
    this.title = title;
    this.#reader = new Reader(parts.theme);
    this.#reader.text.show(texts);
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    return this.#reader.render(width, height);
  }

  protected override key(data: string): void {
    this.#reader.handle(data);
  }

  protected override back(): void {
    if (!this.#reader.back()) this.close();
  }

  protected override get clickable(): boolean {
    return false;
  }
}
