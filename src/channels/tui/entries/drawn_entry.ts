import { messageOf } from "../../../domain/errors.ts";
import { wrapped } from "../text/wrapped.ts";
import type { TranscriptEntry } from "./entry.ts";

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
