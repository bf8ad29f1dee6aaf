import { messageOf } from "../../../domain/errors.ts";
import type { Prefs } from "../prefs.ts";
import type { Theme } from "../text/theme.ts";
import { wrapped } from "../text/wrapped.ts";

/** One part of the conversation, in lines. */
export interface TranscriptEntry {
  /** Lines of at most this many columns. Returns the same array if nothing changed. */
  lines(width: number): readonly string[];
  /** Discards everything drawn: colours or settings changed. */
  invalidate(): void;
  /** More of it is being loaded, so scrolling must not move past it yet. */
  readonly pending?: boolean;
  /** It is visible, or nearly: what it needs may be loaded. `above`: the entries before it are visible as well. */
  seen?(from: "above" | "below"): void;
}

/** Every redraw reads these options. */
export interface DisplayOptions {
  readonly theme: Theme;
  readonly prefs: Prefs;
  /** Shows whole blocks and results instead of their first lines. */
  readonly whole: boolean;
}

/** An entry that caches its lines until it changes. If it cannot be drawn, it shows a notice: a text that a package
 * fails on must not keep its conversation from opening. */
export abstract class DrawnEntry implements TranscriptEntry {
  #width = 0;
  #lines: readonly string[] | null = null;

  protected abstract draw(width: number): readonly string[];

  lines(width: number): readonly string[] {
    if (this.#lines === null || this.#width !== width) {
      this.#lines = this.#drawn(width);
      this.#width = width;
    }
    return this.#lines;
  }

  invalidate(): void {
    this.#lines = null;
  }

  #drawn(width: number): readonly string[] {
    try {
      return this.draw(width);
    } catch (error) {
      const why = messageOf(error);
      return [...wrapped(`This part cannot be shown: ${why}`, width), ""];
    }
  }
}

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
