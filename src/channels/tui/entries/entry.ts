import { messageOf } from "../../../domain/errors.ts";
import type { Prefs } from "../prefs.ts";
import type { Theme } from "../text/theme.ts";
import { wrapped } from "../text/wrapped.ts";

export interface TranscriptEntry {
  /** Returns lines of at most `width` columns. If `fresh` is false, these may be lines from before the last change. */
  lines(width: number, fresh?: boolean): readonly string[];
  invalidate(): void;
  readonly pending?: boolean;
  readonly isLandmark?: boolean;
  seen?(from: "above" | "below"): void;
}

export interface DisplayOptions {
  readonly theme: Theme;
  readonly prefs: Prefs;
  readonly whole: boolean;
  readonly undone: ReadonlySet<string>;
}

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
      return [...wrapped(`Cannot show this part: ${why}`, width), ""];
    }
  }
}

type RemarkLine = readonly [text: string, paint: (text: string) => string];

export class LineEntry extends DrawnEntry {
  readonly #lines: readonly RemarkLine[];

  constructor(...lines: readonly RemarkLine[]) {
    super();
    this.#lines = lines;
  }

  protected draw(width: number): readonly string[] {
    return [...this.#lines.flatMap(([text, paint]) => wrapped(text, width).map(paint)), ""];
  }
}
