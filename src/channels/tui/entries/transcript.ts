import type { TranscriptEntry } from "./entry.ts";

const KEPT = 400;

interface Place {
  readonly index: number;
  readonly line: number;
}

/** The position is an entry and a line in that entry, so the shown rows stay in place if other entries grow. */
export class Transcript {
  readonly #entries: TranscriptEntry[] = [];
  #top: Place | null = null;
  #size = { width: 80, rows: 1 };
  #fresh = true;
  readonly #drawn = new Set<TranscriptEntry>();

  get entries(): readonly TranscriptEntry[] {
    return this.#entries;
  }

  get following(): boolean {
    return this.#top === null;
  }

  add(...entries: readonly TranscriptEntry[]): void {
    this.#entries.push(...entries);
  }

  replace(entry: TranscriptEntry, entries: readonly TranscriptEntry[]): void {
    const index = this.#entries.indexOf(entry);
    if (index === -1) return;
    this.#entries.splice(index, 1, ...entries);
    if (this.#top === null || this.#top.index < index) return;
    const moved = entries.length - 1;
    if (this.#top.index > index) this.#top = { ...this.#top, index: this.#top.index + moved };
    else this.#top = { index: Math.max(0, index + moved), line: Number.MAX_SAFE_INTEGER };
  }

  cutFrom(entry: TranscriptEntry): void {
    const index = this.#entries.indexOf(entry);
    if (index !== -1) this.#entries.length = index;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#drawn.clear();
    this.#top = null;
  }

  invalidate(): void {
    for (const entry of this.#entries) entry.invalidate();
  }

  scroll(rows: number): void {
    const from = this.#top ?? this.#placeAbove({ index: this.#entries.length, line: 0 }, this.#size.rows);
    if (from === null) return;
    this.#top = rows < 0 ? this.#placeAbove(from, -rows) ?? { index: 0, line: 0 } : this.#placeBelow(from, rows);
    if (rows > 0 && this.#top !== null && this.#rowsFrom(this.#top).length <= this.#size.rows) this.#top = null;
  }

  page(direction: -1 | 1): void {
    this.scroll(direction * Math.max(1, this.#size.rows - 2));
  }

  jump(direction: -1 | 1): void {
    const from = this.#top ?? this.#placeAbove({ index: this.#entries.length, line: 0 }, this.#size.rows);
    if (from === null) return;
    const entries = [...this.#entries.entries()].filter(([, { isLandmark }]) => isLandmark === true);
    const [at] = direction < 0
      ? entries.findLast(([index]) => index < from.index || index === from.index && from.line > 0) ?? [0]
      : entries.find(([index]) => index > from.index) ?? [null];
    this.#top = at === null ? null : { index: at, line: 0 };
    if (direction > 0 && this.#top !== null && this.#rowsFrom(this.#top).length <= this.#size.rows) this.#top = null;
  }

  reveal(entry: TranscriptEntry): void {
    this.#top = { index: this.#entries.indexOf(entry), line: 0 };
  }

  toStart(): void {
    this.#top = { index: 0, line: 0 };
  }

  toEnd(): void {
    this.#top = null;
  }

  view(width: number, rows: number, fresh = true): readonly string[] {
    if (width !== this.#size.width) this.#rewrap(width);
    this.#size = { width, rows };
    this.#fresh = fresh;
    const top = this.#top === null ? null : this.#settled(this.#top);
    let lines = top === null ? this.#tail() : this.#rowsFrom(top).slice(0, rows);
    if (top !== null && lines.length < rows) {
      this.#top = null;
      lines = this.#tail();
    }
    this.#forget();
    return [...lines, ...Array<string>(Math.max(0, rows - lines.length)).fill("")];
  }

  #rewrap(width: number): void {
    const { index = 0, line = 0 } = this.#top ?? {};
    const entry = this.#entries[index];
    if (line === 0 || !entry) return;
    const before = entry.lines(this.#size.width, false).length;
    const after = entry.lines(width).length;
    this.#top = { index, line: Math.floor(Math.min(line, before) * after / Math.max(1, before)) };
  }

  /** Entries may have shrunk or disappeared. */
  #settled({ index, line }: Place): Place | null {
    if (this.#entries.length === 0) return this.#top = null;
    const at = Math.min(index, this.#entries.length - 1);
    return this.#top = { index: at, line: Math.max(0, Math.min(line, this.#lines(at).length - 1)) };
  }

  #tail(): readonly string[] {
    const parts: (readonly string[])[] = [];
    let rows = 0;
    for (let at = this.#entries.length - 1; at >= 0 && rows < this.#size.rows; at--) {
      const lines = this.#lines(at);
      parts.unshift(lines.length > this.#size.rows ? lines.slice(-this.#size.rows) : lines);
      rows += lines.length;
    }
    return parts.flat().slice(-this.#size.rows);
  }

  #rowsFrom({ index, line }: Place): readonly string[] {
    const wanted = this.#size.rows + 1;
    const rows = [...this.#lines(index).slice(line, line + wanted)];
    for (let at = index + 1; at < this.#entries.length && rows.length < wanted; at++) {
      rows.push(...this.#lines(at, "above").slice(0, wanted - rows.length));
    }
    return rows;
  }

  #placeAbove({ index, line }: Place, rows: number): Place | null {
    let left = rows - line;
    if (left <= 0) return { index, line: -left };
    for (let at = index - 1; at >= 0; at--) {
      const { length } = this.#lines(at);
      if (left <= length) return { index: at, line: length - left };
      if (this.#entries[at]?.pending) return { index: at, line: 0 };
      left -= length;
    }
    return null;
  }

  #placeBelow({ index, line }: Place, rows: number): Place | null {
    let left = line + rows;
    for (let at = index; at < this.#entries.length; at++) {
      const { length } = this.#lines(at);
      if (left < length) return { index: at, line: left };
      left -= length;
    }
    return null;
  }

  #lines(index: number, from: "above" | "below" = "below"): readonly string[] {
    const entry = this.#entries[index];
    if (!entry) return [];
    entry.seen?.(from);
    this.#drawn.delete(entry);
    this.#drawn.add(entry);
    return entry.lines(this.#size.width, this.#fresh);
  }

  #forget(): void {
    if (this.#drawn.size <= KEPT) return;
    for (const entry of [...this.#drawn].slice(0, this.#drawn.size - KEPT)) {
      this.#drawn.delete(entry);
      entry.invalidate();
    }
  }
}
