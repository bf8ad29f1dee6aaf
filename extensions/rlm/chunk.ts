export interface ChunkOptions {
  /** Maximum characters of a chunk. */
  readonly size?: number;
  /** Characters that a chunk repeats from the previous one. */
  readonly overlap?: number;
}

const SIZE = 100_000;

/** Splits the text into chunks; without overlap, joined they are the text. Surrogate pairs are not split. */
export function chunk(text: string, { size = SIZE, overlap = 0 }: ChunkOptions = {}): string[] {
  if (overlap > size / 2) throw new RangeError(`Cannot cut with an overlap of ${overlap}: at most half of ${size}`);
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = text.length - from <= size ? text.length : cut(text, { from, to: from + size });
    pieces.push(text.slice(from, to));
    if (to === text.length) break;
    from = whole(text, Math.max(from + 1, to - overlap));
  }
  return pieces;
}

/** After the last line break in the last quarter, else after the last blank there, else at the end. */
function cut(text: string, { from, to }: { readonly from: number; readonly to: number }): number {
  const least = to - Math.floor((to - from) / 4);
  for (const mark of ["\n", " "]) {
    const at = text.lastIndexOf(mark, to - 1);
    if (at >= least) return at + 1;
  }
  return whole(text, to);
}

/** Not inside a surrogate pair. */
function whole(text: string, at: number): number {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000 ? at - 1 : at;
}
