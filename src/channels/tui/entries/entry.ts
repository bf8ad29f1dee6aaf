import { messageOf } from "../../../domain/errors.ts";
import type { Prefs } from "../prefs.ts";
import type { Theme } from "../text/theme.ts";
import { wrapped } from "../text/wrapped.ts";

/** A part of the conversation, in lines. */
export interface TranscriptEntry {
  /** Returns lines of at most this many columns; the same array if nothing changed. Without `fresh`, they may be the lines
   * before the last change, so that a key is painted at once while text arrives. */
  lines(width: number, fresh?: boolean): readonly string[];
  /** Discards all drawn lines, because colours or settings changed. */
  invalidate(): void;
  /** Whether more of it is being loaded, so that scrolling must not pass it yet. */
  readonly pending?: boolean;
  /** Called when it is visible or nearly so, to load content. `above` means that the entries before it are visible
   * too. */
  seen?(from: "above" | "below"): void;
}

/** The options that every redraw reads. */
export interface DisplayOptions {
  readonly theme: Theme;
  readonly prefs: Prefs;
  /** Whether to show whole blocks and results instead of their first lines. */
  readonly whole: boolean;
}

/** An entry that caches its lines until it changes. If drawing fails, it shows a notice: a text on which a package
 * fails must not prevent its conversation from opening. */
export abstract class DrawnEntry implements TranscriptEntry {
  #width = 0;
  #lines: readonly string[] | null = null;
  #isOld = false;

  protected abstract draw(width: number): readonly string[];

  lines(width: number, fresh = true): readonly string[] {
    if (this.#lines === null || this.#width !== width || this.#isOld && fresh) {
      this.#lines = this.#drawn(width);
      this.#width = width;
      this.#isOld = false;
    }
    return this.#lines;
  }

  /** Requests a drawing with the next frame, because text arrived. */
  grown(): void {
    this.#isOld = true;
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

/** A remark of the program, such as the end of a query. */
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
