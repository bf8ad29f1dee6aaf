import type { Hit } from "./line_scanner.ts";

export const MAX_HITS = 500;

/** Collects hits up to the cap and counts those beyond it. */
export class HitTally {
  readonly #limit: number | undefined;
  readonly #kept: Hit[] = [];
  readonly #files = new Set<string>();
  #more = 0;

  constructor(limit: number | undefined) {
    this.#limit = limit;
  }

  /** True if the caller's limit was exceeded. */
  get full(): boolean {
    return this.#limit !== undefined && this.#more > 0;
  }

  /** True if further hits are only counted. */
  get counting(): boolean {
    return this.#kept.length >= Math.min(this.#limit ?? MAX_HITS, MAX_HITS);
  }

  /** Returns false once no more are needed. */
  add(hit: Hit): boolean {
    if (this.counting) this.count(hit.path, 1);
    else this.#kept.push(hit);
    return !this.full;
  }

  /** Counts hits of a file that are not listed individually. */
  count(path: string, hits: number): void {
    if (hits === 0) return;
    this.#more += hits;
    this.#files.add(path);
  }

  hits(): Hit[] {
    if (this.#more === 0) return this.#kept;
    const text = this.full
      ? `… more hits: stopped at ${this.#kept.length}`
      : `… ${this.#more} more hits in ${this.#files.size} files, ${
        this.#kept.length + this.#more
      } in all; narrow pattern, path or glob`;
    return [...this.#kept, { path: "", line: 0, text }];
  }
}
