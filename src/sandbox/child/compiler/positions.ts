/** The numbers are triples `from, to, length`, ascending in `from`. */
export type PositionMap = readonly number[];

export const IDENTITY: PositionMap = [0, 0, Number.MAX_SAFE_INTEGER];

function partAt(map: PositionMap, offset: number): number {
  let low = 0, high = map.length / 3 - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((map[middle * 3] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low * 3;
}

export function mapOffset(map: PositionMap, offset: number): number {
  const part = partAt(map, offset);
  const [from = 0, to = 0, length = 0] = [map[part], map[part + 1], map[part + 2]];
  return to + Math.max(0, Math.min(offset - from, length));
}

export function composeMaps(first: PositionMap, second: PositionMap): PositionMap {
  if (second === IDENTITY) return first;
  const out: number[] = [];
  for (let i = 0; i + 2 < first.length; i += 3) {
    const from = first[i] ?? 0, middle = first[i + 1] ?? 0, end = middle + (first[i + 2] ?? 0);
    if (end === middle) out.push(from, mapOffset(second, middle), 0);
    for (let j = partAt(second, middle); j + 2 < second.length; j += 3) {
      const start = second[j] ?? 0, length = second[j + 2] ?? 0;
      if (start >= end) break;
      const low = Math.max(start, middle), high = Math.min(start + length, end);
      if (low < high) out.push(from + low - middle, (second[j + 1] ?? 0) + low - start, high - low);
    }
  }
  return out;
}

/** Positions count from 1. Columns count UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export function offsetOf(text: string, { line, column }: Position): number {
  let start = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  return Math.min(start + column - 1, text.length);
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let i = before.indexOf("\n"); i >= 0; i = before.indexOf("\n", i + 1)) line++;
  return { line, column: before.length - start + 1 };
}

export interface SourceEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly at?: number;
}

export function applyEdits(
  text: string,
  edits: readonly SourceEdit[],
): { readonly text: string; readonly map: PositionMap } {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const map: number[] = [];
  let out = "", at = 0;
  for (const edit of sorted) {
    map.push(out.length, at, edit.start - at);
    out += text.slice(at, edit.start);
    map.push(out.length, edit.at ?? edit.start, Math.min(edit.text.length, edit.end - edit.start));
    out += edit.text;
    at = edit.end;
  }
  map.push(out.length, at, text.length - at + 1);
  return { text: out + text.slice(at), map };
}

/** Both texts have the same number of lines; `made` is `origin` with types removed or enums inserted. */
export function alignLines(made: string, origin: string): PositionMap {
  const map: number[] = [];
  const [madeLines, originLines] = [made.split("\n"), origin.split("\n")];
  let from = 0, to = 0;
  madeLines.forEach((line, i) => {
    const source = originLines[i] ?? "";
    alignLine({ line, source, from, to }, map);
    from += line.length + 1;
    if (i < originLines.length) to += source.length + 1;
  });
  return map;
}

interface LinePair {
  readonly line: string;
  readonly source: string;
  readonly from: number;
  readonly to: number;
}

function alignLine({ line, source, from, to }: LinePair, map: number[]): void {
  const absent = new Set<string>();
  let at = 0;
  map.push(from, to, 0);
  for (let i = 0; i < line.length;) {
    const character = line.charAt(i), found = absent.has(character) ? -1 : source.indexOf(character, at);
    if (found < 0) {
      absent.add(character);
      i++;
      continue;
    }
    let length = 1;
    while (i + length < line.length && line[i + length] === source[found + length]) length++;
    map.push(from + i, to + found, length);
    i += length;
    at = found + length;
  }
}
