import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { clean, plural } from "../parts/texts.tsx";
import { type Graph, type GraphEdge, type GraphNode, inApi, json } from "../store/api.ts";
import { view } from "./dialogs.tsx";
import { type Layout, layout, type Link, type Spot } from "./layout.ts";
import { showVariable } from "./variables.tsx";

/** The page does not draw larger graphs, which take long and are hard to read. */
const MAX_NODES = 300;
/** The least scale at which names are readable. */
const READABLE = .65;

export async function showGraph(conversation: string): Promise<void> {
  await view("Variable graph", async () => {
    const { nodes, edges } = await json<Graph>(inApi("conversations", conversation, "graph"));
    const own = nodes.filter(({ scope }) => scope !== "system").toReversed();
    if (own.length === 0) return <p>No variables yet</p>;
    return <Sheet nodes={own} edges={edges} open={(name) => void showVariable(conversation, name)} />;
  });
}

function mostUsed(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): readonly GraphNode[] {
  if (nodes.length <= MAX_NODES) return nodes;
  const ties = new Map<string, number>();
  for (const name of edges.flatMap((edge) => [edge.name, edge.reads])) ties.set(name, (ties.get(name) ?? 0) + 1);
  const ranked = nodes.toSorted((a, b) => (ties.get(b.name) ?? 0) - (ties.get(a.name) ?? 0));
  const kept = new Set(ranked.slice(0, MAX_NODES));
  return nodes.filter((node) => kept.has(node));
}

function Sheet({ nodes, edges, open }: {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly open: (name: string) => void;
}): JSX.Element {
  const placed = useMemo(() => layout(mostUsed(nodes, edges), edges), [nodes, edges]);
  const [scale, zoom] = useState(1);
  const by = (factor: number) => () => zoom(Math.min(3, Math.max(.2, scale * factor)));
  const sheet = useRef<HTMLDivElement>(null);
  // If a graph is slightly wider than its container, the page scales it down as long as the names stay readable.
  useLayoutEffect(() => {
    const fit = new ResizeObserver(() => {
      fit.disconnect();
      const room = ((sheet.current?.clientWidth ?? 0) - 2) / placed.width;
      if (room < 1) zoom(Math.max(READABLE, room));
    });
    if (sheet.current) fit.observe(sheet.current);
    return () => fit.disconnect();
  }, [placed]);
  const left = nodes.length - placed.spots.length;
  const hidden = left > 0 ? `; ${left} with the fewest connections are hidden` : "";
  return (
    <>
      <div class="bar">
        <Button aria-label="Zoom out" class="go" run={by(.8)}>−</Button>
        <Button aria-label="Zoom in" class="go" run={by(1.25)}>+</Button>
        <Button class="go" run={() => zoom(1)}>100 %</Button>
        <span>{`${plural(placed.spots.length, "variable")}${hidden}`}</span>
      </div>
      <div class="sheet" tabIndex={0} aria-label="Variable graph, scrollable" role="region" ref={sheet}>
        <Drawing placed={placed} scale={scale} open={open} />
      </div>
    </>
  );
}

const NAME_CHARS = 18;
const SHAPE_CHARS = 25;

interface DrawingProps {
  readonly placed: Layout<GraphNode>;
  readonly scale: number;
  readonly open: (name: string) => void;
}

/** Draws a graph whose nodes can be opened, and marks the edges of the node under the pointer or with the focus. */
function Drawing({ placed, scale, open }: DrawingProps): JSX.Element {
  const { width, height, box, spots, links } = placed;
  const [lit, light] = useState<ReadonlySet<string>>(new Set());
  const marks = (name: string) => (is: boolean): void =>
    light((before) => is ? new Set([...before, name]) : new Set([...before].filter((other) => other !== name)));
  return (
    <svg
      width={width * scale}
      height={height * scale}
      viewBox={`0 0 ${width} ${height}`}
      class="graph"
      role="group"
      aria-label="Variables; arrows lead from a variable to those computed from it"
    >
      <defs>
        <marker
          id="arrow"
          viewBox="0 0 8 8"
          refX={7}
          refY={4}
          markerUnits="userSpaceOnUse"
          markerWidth={9}
          markerHeight={9}
          orient="auto"
        >
          <path d="M0 0L8 4L0 8z" class="head" />
        </marker>
      </defs>
      {links.map((link) => <Edge link={link} box={box} lit={lit} />)}
      {spots.map((spot) => (
        <Node
          key={spot.node.name}
          spot={spot}
          box={box}
          open={open}
          light={marks(spot.node.name)}
        />
      ))}
    </svg>
  );
}

function Edge({ link, box, lit }: {
  readonly link: Link<GraphNode>;
  readonly box: Layout<GraphNode>["box"];
  readonly lit: ReadonlySet<string>;
}): JSX.Element {
  const { from, to } = link;
  const kinds = ["edge", lit.has(from.node.name) && "used", lit.has(to.node.name) && "read"];
  return <path class={kinds.filter(Boolean).join(" ")} d={curve(link, box)} marker-end="url(#arrow)" />;
}

function Node({ spot: { node, x, y }, box, open, light }: {
  readonly spot: Spot<GraphNode>;
  readonly box: Layout<GraphNode>["box"];
  readonly open: (name: string) => void;
  readonly light: (is: boolean) => void;
}): JSX.Element {
  const { name, kind, scope, versions, shape } = node;
  const short = (text: string, max: number): string => text.length > max ? `${text.slice(0, max - 1)}…` : text;
  const shownName = short(name, NAME_CHARS);
  const shownShape = short(`v${versions} · ${shape || kind}`, SHAPE_CHARS);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(name);
  };
  return (
    <g
      class={`node ${scope} k-${kind}`}
      role="button"
      tabIndex={0}
      aria-label={clean(`${shownName} ${shownShape}`)}
      aria-description={clean(`${name}: ${shape || kind}`)}
      onClick={() => open(name)}
      onKeyDown={onKey}
      onMouseEnter={() => light(true)}
      onMouseLeave={() => light(false)}
      onFocus={() => light(true)}
      onBlur={() => light(false)}
    >
      <rect x={x} y={y} width={box.width} height={box.height} rx={9} />
      <text>
        <tspan x={x + 10} y={y + 18} class="name">{shownName}</tspan>{" "}
        <tspan x={x + 10} y={y + 34} class="shape">{shownShape}</tspan>
      </text>
    </g>
  );
}

/** Returns the path of an edge from the middle of one box down to the middle of the other. Upward edges go around the
 * side. */
function curve({ from, to, via }: Link<GraphNode>, { width, height }: Layout<GraphNode>["box"]): string {
  if (to.y <= from.y) {
    const x1 = from.x + width, y1 = from.y + height / 2, x2 = to.x + width + 2, y2 = to.y + height / 2;
    const out = Math.max(x1, x2) + 34;
    return `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2} ${y2}`;
  }
  let x1 = from.x + width / 2, y1 = from.y + height;
  const ways = [...via, { x: to.x + width / 2, y: to.y - 2 }].map(({ x, y }, at) => {
    const bend = Math.max(24, Math.abs(y - y1) / 2);
    const way = `C${x1} ${y1 + bend} ${x} ${y - bend} ${x} ${y}`;
    [x1, y1] = [x, y + height];
    return at < via.length ? `${way}V${y1}` : way;
  });
  return `M${from.x + width / 2} ${from.y + height}${ways.join("")}`;
}
