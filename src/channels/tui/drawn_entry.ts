import type { Entry } from "./entry.ts";

/** An entry that keeps its lines until something of it changes. */
export abstract class DrawnEntry implements Entry {
  #width = 0;
  #lines: readonly string[] | null = null;

  protected abstract draw(width: number): readonly string[];

  lines(width: number): readonly string[] {
    if (this.#lines === null || this.#width !== width) {
      this.#lines = this.draw(width);
      this.#width = width;
    }
    return this.#lines;
  }

  invalidate(): void {
    this.#lines = null;
  }
}
