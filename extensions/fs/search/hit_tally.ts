import type { Hit } from "./line_scanner.ts";

/** How many hits are listed if no limit is asked for. */
const DEFAULT_HITS = 500;
/** Limit of the text of all hits together, in characters. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Collects hits: as many as were asked for, or all of them up to the default. */
export class HitTally {
  readonly #limit: number | undefined;
  readonly #kept: Hit[] = [];
  readonly #files = new Set<string>();
  #chars = 0;
  #more = 0;

  constructor(limit?: number) {
    this.#limit = limit;
  }

  /** How many hits are listed at most. */
  get most(): number {
    return this.#limit ?? DEFAULT_HITS;
  }

  /** True if the caller has what was asked for. */
  get full(): boolean {
    return this.#limit !== undefined && this.#more > 0;
  }

  /** True if further hits are only counted. */
  get counting(): boolean {
    return this.#kept.length >= this.most;
  }

  /** Returns false once no more are needed. */
  add(hit: Hit): boolean {
    this.#files.add(hit.path);
    if (this.counting) this.#more++;
    else this.#keep(hit);
    return !this.full;
  }

  /** Counts hits of a file that are not listed individually. */
  count(path: string, hits: number): void {
    if (hits === 0) return;
    this.#more += hits;
    this.#files.add(path);
  }

  /** Throws RangeError if there are more than the default and no limit was asked for: a list that is cut could be taken
   * for all there is. */
  hits(): Hit[] {
    if (this.#limit !== undefined || this.#more === 0) return this.#kept;
    const all = this.#kept.length + this.#more;
    throw new RangeError(
      `Cannot list ${all} hits in ${this.#files.size} file${
        this.#files.size === 1 ? "" : "s"
      }: ${DEFAULT_HITS} is the most without a limit; ` +
        `narrow pattern, path or glob, count with fs.count(pattern, where), or ask for them: {limit: ${all}}`,
    );
  }

  #keep(hit: Hit): void {
    this.#kept.push(hit);
    for (const text of [hit.text, ...hit.before ?? []]) this.#chars += text.length;
    if (this.#chars <= MAX_CHARS) return;
    throw new RangeError(
      `Cannot list ${this.#kept.length} hits: their text is over 16 MB; ask for a lower limit, path by path`,
    );
  }
}
