/** Where the nodes of a graph of dependencies stand: what is read is above what reads it. */

const WIDTH = 176;
const HEIGHT = 44;
const GAP_X = 32;
const GAP_Y = 56;
const SWEEPS = 8;

/** `edges` as { name, reads }; names that are no nodes are passed over. Cycles are drawn with an edge upwards. */
export function layout(nodes, edges) {
  const names = new Set(nodes.map(({ name }) => name));
  const used = edges.filter(({ name, reads }) => names.has(name) && names.has(reads) && name !== reads);
  const rows = ranked(nodes, used);
  for (let sweep = 0; sweep < SWEEPS; sweep++) untangle(rows, { edges: used, down: sweep % 2 === 0 });
  return placed(rows, used);
}

/** By the longest way from what reads nothing; a name that is met on the way to itself is not followed. */
function ranked(nodes, edges) {
  const reads = Map.groupBy(edges, ({ name }) => name);
  const ranks = new Map();
  for (const { name } of nodes) rankFrom(name, { reads, ranks });
  const rows = [];
  for (const node of nodes) (rows[ranks.get(node.name)] ??= []).push(node);
  return rows.filter(Boolean);
}

/** With a stack of its own: a chain may be longer than the one of the program. */
function rankFrom(start, { reads, ranks }) {
  const stack = [start];
  const onWay = new Set();
  while (stack.length > 0) {
    const name = stack.at(-1);
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

/** Each row in the order of the middle of its neighbours in the rows before. */
function untangle(rows, { edges, down }) {
  const near = Map.groupBy(edges, (edge) => down ? edge.name : edge.reads);
  const at = new Map(rows.flatMap((row) => row.map(({ name }, i) => [name, (i + .5) / row.length])));
  for (const row of down ? rows : rows.toReversed()) {
    const middle = ({ name }) => {
      const places = (near.get(name) ?? []).map((edge) => at.get(down ? edge.reads : edge.name));
      return places.length === 0 ? at.get(name) : places.reduce((sum, place) => sum + place, 0) / places.length;
    };
    const middles = new Map(row.map((node) => [node.name, middle(node)]));
    row.sort((a, b) => middles.get(a.name) - middles.get(b.name));
    for (const [i, { name }] of row.entries()) at.set(name, (i + .5) / row.length);
  }
}

/** A row with many nodes is broken into lines, so that the drawing stays readable. */
function placed(rows, edges) {
  const most = Math.max(4, Math.ceil(Math.sqrt(rows.flat().length) * 1.4));
  const lines = rows.flatMap((row) => broken(row, most));
  const widest = Math.max(...lines.map((line) => line.length));
  const width = widest * (WIDTH + GAP_X) + 2 * GAP_X;
  const spots = new Map();
  for (const [y, line] of lines.entries()) {
    const free = width - line.length * (WIDTH + GAP_X);
    for (const [x, node] of line.entries()) {
      spots.set(node.name, { node, x: free / 2 + x * (WIDTH + GAP_X), y: GAP_X + y * (HEIGHT + GAP_Y) });
    }
  }
  const links = edges.map(({ name, reads }) => ({ from: spots.get(reads), to: spots.get(name) }));
  const height = lines.length * (HEIGHT + GAP_Y) - GAP_Y + 2 * GAP_X;
  return { width, height, box: { width: WIDTH, height: HEIGHT }, spots: [...spots.values()], links };
}

function broken(row, most) {
  const lines = [];
  for (let from = 0; from < row.length; from += most) lines.push(row.slice(from, from + most));
  return lines;
}
