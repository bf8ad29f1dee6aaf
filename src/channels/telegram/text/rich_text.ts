import type { MessageEntity } from "../api/wire.ts";

/** A style of text. Two spans have the same style only if it is the same object. */
export type TextStyle =
  | { readonly type: "bold" | "italic" | "strikethrough" | "code" | "blockquote" }
  | { readonly type: "pre"; readonly language?: string }
  | { readonly type: "text_link"; readonly url: string };

export interface StyledText {
  readonly text: string;
  /** Outermost first. */
  readonly spans: readonly TextStyle[];
}

/** One message in Telegram's format. */
export interface RichMessage {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/** Telegram ignores any beyond this. */
const MAX_ENTITIES = 100;

/** Text with separate styles instead of inline marks: nothing needs escaping and no style can be left open, so Telegram
 * never refuses a mark. */
export class RichText {
  readonly #runs: StyledText[] = [];

  get runs(): readonly StyledText[] {
    return this.#runs;
  }

  get length(): number {
    return this.#runs.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Code gets no other style, since Telegram allows code only within a quote. */
  add(text: string, spans: readonly TextStyle[] = []): this {
    if (text === "") return this;
    const code = spans.find(({ type }) => type === "code" || type === "pre");
    const kept = code ? spans.filter((span) => span === code || span.type === "blockquote") : spans;
    this.#runs.push({ text, spans: kept });
    return this;
  }

  /** As one message, measured in UTF-16 units like Telegram. */
  message(): RichMessage {
    const open = new Map<TextStyle, number>();
    const found: { readonly span: TextStyle; readonly offset: number; readonly length: number }[] = [];
    let at = 0;
    const close = (still: readonly TextStyle[]): void => {
      for (const [span, offset] of open) {
        if (still.includes(span)) continue;
        found.push({ span, offset, length: at - offset });
        open.delete(span);
      }
    };
    for (const { text, spans } of this.#runs) {
      close(spans);
      for (const span of spans) if (!open.has(span)) open.set(span, at);
      at += text.length;
    }
    close([]);
    const sorted = found.sort((a, b) => a.offset - b.offset || b.length - a.length);
    return {
      text: this.#runs.map(({ text }) => text).join(""),
      entities: sorted.slice(0, MAX_ENTITIES).map(({ span, offset, length }) => ({ ...span, offset, length })),
    };
  }
}
