/** Places the nodes of a dependency graph: a node is above the nodes that read it. */

const WIDTH = 176;
const HEIGHT = 44;
const GAP_X = 32;
const GAP_Y = 56;
const PASS = 16;
/** The limit for places in rows that edges pass through. More places would push the nodes apart. */
const MAX_PASSES = 120;
const SWEEPS = 8;

interface Named {
  readonly name: string;
}

interface Edge extends Named {
  readonly reads: string;
}

interface Cell<T> extends Named {
  readonly node: T | null;
}

interface Tie {
  readonly stops: readonly string[];
}

export interface Spot<T> {
  readonly node: T;
  readonly x: number;
  readonly y: number;
}

export interface Link<T> {
  readonly from: Spot<T>;
  readonly to: Spot<T>;
  readonly via: readonly { readonly x: number; readonly y: number }[];
}

export interface Layout<T> {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly width: number; readonly height: number };
  readonly spots: readonly Spot<T>[];
  readonly links: readonly Link<T>[];
}

/** Omits names that are not nodes. A cycle gets an upward edge. */
export function layout<T extends Named>(nodes: readonly T[], edges: readonly Edge[]): Layout<T> {
  const names = new Set(nodes.map(({ name }) => name));
  const used = edges.filter(({ name, reads }) => names.has(name) && names.has(reads) && name !== reads);
  const rows = ranked(nodes, used);
  const ties = withPasses(rows, used);
  const steps = ties.flatMap(({ stops }) => stops.slice(1).map((name, at) => ({ name, reads: stops[at] ?? "" })));
  for (let sweep = 0; sweep < SWEEPS; sweep++) untangle(rows, { edges: steps, down: sweep % 2 === 0 });
  return placed(rows, ties);
}

/** Gives an edge across several rows its own place in each row between, so that it passes behind no box. If this takes
 * more than `MAX_PASSES` places, no edge gets one of these places. */
function withPasses<T>(rows: Cell<T>[][], edges: readonly Edge[]): readonly Tie[] {
  const ranks = new Map(rows.flatMap((row, at) => row.map(({ name }) => [name, at] as const)));
  const rankOf = (name: string): number => ranks.get(name) ?? 0;
  const between = ({ name, reads }: Edge): number => Math.max(0, rankOf(name) - rankOf(reads) - 1);
  const isFew = edges.reduce((sum, edge) => sum + between(edge), 0) <= MAX_PASSES;
  return edges.map((edge) => {
    const { name, reads } = edge;
    const passes = Array.from({ length: isFew ? between(edge) : 0 }, (_, at) => `${reads} → ${name} ${at}`);
    for (const [at, pass] of passes.entries()) rows[rankOf(reads) + 1 + at]?.push({ name: pass, node: null });
    return { stops: [reads, ...passes, name] };
  });
}

/** Ranks by the longest path from nodes that read no other node. If a path leads back to a node, the search does not
 * follow it. Nodes without an edge form the last row, so that no edge passes behind them. */
function ranked<T extends Named>(nodes: readonly T[], edges: readonly Edge[]): Cell<T>[][] {
  const reads = Map.groupBy(edges, ({ name }) => name);
  const ranks = new Map<string, number>();
  for (const { name } of nodes) rankFrom(name, { reads, ranks });
  const rows: Cell<T>[][] = [];
  const tied = new Set(edges.flatMap(({ name, reads }) => [name, reads]));
  for (const node of nodes.filter(({ name }) => tied.has(name))) {
    (rows[ranks.get(node.name) ?? 0] ??= []).push({ name: node.name, node });
  }
  const alone = nodes.filter(({ name }) => !tied.has(name)).map((node) => ({ name: node.name, node }));
  return [...rows, alone].filter((row) => row !== undefined && row.length > 0);
}

/** Uses an explicit stack, because chains may be longer than the call stack allows. */
function rankFrom(
  start: string,
  { reads, ranks }: { readonly reads: ReadonlyMap<string, readonly Edge[]>; readonly ranks: Map<string, number> },
): void {
  const stack = [start];
  const onWay = new Set<string>();
  for (let name = stack.at(-1); name !== undefined; name = stack.at(-1)) {
    const waiting = (reads.get(name) ?? []).map((edge) => edge.reads)
      .filter((read) => !ranks.has(read) && !onWay.has(read) && read !== name);
    if (!ranks.has(name) && !onWay.has(name) && waiting.length > 0) {
      onWay.add(name);
      stack.push(...waiting);
      continue;
    }
    const above = (reads.get(name) ?? []).map((edge) => ranks.get(edge.reads) ?? -1);
    if (!ranks.has(name)) ranks.set(name, Math.max(-1, ...above) + 1);
    onWay.delete(name);
    stack.pop();
  }
}

function untangle<T>(
  rows: readonly Cell<T>[][],
  { edges, down }: { readonly edges: readonly Edge[]; readonly down: boolean },
): void {
  const near = Map.groupBy(edges, (edge) => down ? edge.name : edge.reads);
  const at = new Map(rows.flatMap((row) => row.map(({ name }, i) => [name, (i + .5) / row.length] as const)));
  for (const row of down ? rows : rows.toReversed()) {
    const middle = ({ name }: Named): number => {
      const places = (near.get(name) ?? []).map((edge) => at.get(down ? edge.reads : edge.name) ?? 0);
      if (places.length === 0) return at.get(name) ?? 0;
      return places.reduce((sum, place) => sum + place, 0) / places.length;
    };
    const middles = new Map(row.map((node) => [node.name, middle(node)]));
    row.sort((a, b) => (middles.get(a.name) ?? 0) - (middles.get(b.name) ?? 0));
    for (const [i, { name }] of row.entries()) at.set(name, (i + .5) / row.length);
  }
}

/** Breaks a row with many nodes into lines, so that the drawing stays readable. */
function placed<T>(rows: readonly Cell<T>[][], ties: readonly Tie[]): Layout<T> {
  const count = rows.flat().filter(({ node }) => node !== null).length;
  const most = Math.max(4, Math.ceil(Math.sqrt(count) * 1.4));
  const lines = rows.flatMap((row) => broken(row, most));
  const room = ({ node }: Cell<T>): number => (node === null ? PASS : WIDTH) + GAP_X;
  const widths = lines.map((line) => line.reduce((sum, cell) => sum + room(cell), 0));
  const width = Math.max(...widths) + 2 * GAP_X;
  const spots = new Map<string, Spot<T>>();
  const passes = new Map<string, { readonly x: number; readonly y: number }>();
  for (const [at, line] of lines.entries()) {
    let x = (width - (widths[at] ?? 0) + GAP_X) / 2;
    const y = GAP_X + at * (HEIGHT + GAP_Y);
    for (const cell of line) {
      if (cell.node === null) passes.set(cell.name, { x: x + PASS / 2, y });
      else spots.set(cell.name, { node: cell.node, x, y });
      x += room(cell);
    }
  }
  const links = ties.flatMap(({ stops }) => {
    const from = spots.get(stops[0] ?? ""), to = spots.get(stops.at(-1) ?? "");
    return from && to ? [{ from, to, via: stops.slice(1, -1).flatMap((name) => passes.get(name) ?? []) }] : [];
  });
  const height = lines.length * (HEIGHT + GAP_Y) - GAP_Y + 2 * GAP_X;
  return { width, height, box: { width: WIDTH, height: HEIGHT }, spots: [...spots.values()], links };
}

function broken<T>(row: readonly Cell<T>[], most: number): readonly Cell<T>[][] {
  const lines: Cell<T>[][] = [];
  let line: Cell<T>[] = [], boxes = 0;
  for (const cell of row) {
    if (cell.node !== null && boxes++ === most) {
      lines.push(line);
      [line, boxes] = [[], 1];
    }
    line.push(cell);
  }
  return [...lines, line];
}
