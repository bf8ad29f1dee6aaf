/** Positions of the nodes of a dependency graph: a node is above those that read it. */

const WIDTH = 176;
const HEIGHT = 44;
const GAP_X = 32;
const GAP_Y = 56;
/** Width reserved for an edge that passes through a row. */
const PASS = 16;
/** More edges passing through rows would push everything apart. */
const MAX_PASSES = 120;
const SWEEPS = 8;

/** `edges` as { name, reads }; names that are not nodes are skipped. Cycles get an upward edge. */
export function layout(nodes, edges) {
  const names = new Set(nodes.map(({ name }) => name));
  const used = edges.filter(({ name, reads }) => names.has(name) && names.has(reads) && name !== reads);
  const rows = ranked(nodes, used);
  const ties = withPasses(rows, used);
  const steps = ties.flatMap(({ stops }) => stops.slice(1).map((name, at) => ({ name, reads: stops[at] })));
  for (let sweep = 0; sweep < SWEEPS; sweep++) untangle(rows, { edges: steps, down: sweep % 2 === 0 });
  return placed(rows, ties);
}

/** Gives an edge across several rows its own place in the rows between, so that it passes behind no box. Returns the
 * names that each edge touches on its way. */
function withPasses(rows, edges) {
  const ranks = new Map(rows.flatMap((row, at) => row.map(({ name }) => [name, at])));
  const between = ({ name, reads }) => Math.max(0, ranks.get(name) - ranks.get(reads) - 1);
  const isFew = edges.reduce((sum, edge) => sum + between(edge), 0) <= MAX_PASSES;
  return edges.map((edge) => {
    const { name, reads } = edge;
    const passes = Array.from({ length: isFew ? between(edge) : 0 }, (_, at) => `${reads} → ${name} ${at}`);
    for (const [at, pass] of passes.entries()) rows[ranks.get(reads) + 1 + at].push({ name: pass, passes: true });
    return { stops: [reads, ...passes, name] };
  });
}

/** Ranks by the longest path from nodes that read nothing; a name met again on the path to itself is not followed. */
function ranked(nodes, edges) {
  const reads = Map.groupBy(edges, ({ name }) => name);
  const ranks = new Map();
  for (const { name } of nodes) rankFrom(name, { reads, ranks });
  const rows = [];
  for (const node of nodes) (rows[ranks.get(node.name)] ??= []).push(node);
  return rows.filter(Boolean);
}

/** Uses an explicit stack: a chain may be longer than the call stack allows. */
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

/** Orders each row by the average position of its neighbours in the rows before. */
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

/** Breaks a row with many nodes into lines, so that the drawing stays readable. */
function placed(rows, ties) {
  const count = rows.flat().filter(({ passes }) => !passes).length;
  const most = Math.max(4, Math.ceil(Math.sqrt(count) * 1.4));
  const lines = rows.flatMap((row) => broken(row, most));
  const room = ({ passes }) => (passes ? PASS : WIDTH) + GAP_X;
  const widths = lines.map((line) => line.reduce((sum, node) => sum + room(node), 0));
  const width = Math.max(...widths) + 2 * GAP_X;
  const all = new Map();
  for (const [at, line] of lines.entries()) {
    let x = (width - widths[at] + GAP_X) / 2;
    for (const node of line) {
      all.set(node.name, { node, x, y: GAP_X + at * (HEIGHT + GAP_Y) });
      x += room(node);
    }
  }
  const links = ties.map(({ stops }) => {
    const [from, ...rest] = stops.map((name) => all.get(name));
    return { from, to: rest.at(-1), via: rest.slice(0, -1).map(({ x, y }) => ({ x: x + PASS / 2, y })) };
  });
  const spots = [...all.values()].filter(({ node }) => !node.passes);
  const height = lines.length * (HEIGHT + GAP_Y) - GAP_Y + 2 * GAP_X;
  return { width, height, box: { width: WIDTH, height: HEIGHT }, spots, links };
}

function broken(row, most) {
  const lines = [];
  let line = [], boxes = 0;
  for (const node of row) {
    if (!node.passes && boxes++ === most) {
      lines.push(line);
      [line, boxes] = [[], 1];
    }
    line.push(node);
  }
  return [...lines, line];
}
