import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { plural } from "../text/plural.ts";
import { inApi, json } from "../store/api.ts";
import type { Graph, GraphEdge, GraphNode } from "../store/api_types.ts";
import { view } from "../store/viewer.ts";
import { Drawing } from "./drawing.tsx";
import { layout } from "./layout.ts";
import { showVariable } from "./variables.tsx";

/** More nodes could be neither read nor drawn quickly. */
const MAX_NODES = 300;
/** At a smaller scale names are unreadable. */
const READABLE = .65;

/** Shows which variables were made from which. */
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
  // A graph slightly wider than its container is scaled down, as long as it stays readable.
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
