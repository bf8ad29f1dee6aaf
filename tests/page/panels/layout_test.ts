import assert from "node:assert/strict";
import { type Layout, layout, type Spot } from "../../../src/page/panels/layout.ts";

interface Node {
  readonly name: string;
}

const nodes = (...names: readonly string[]) => names.map((name) => ({ name }));
const edges = (...pairs: readonly string[]) =>
  pairs.map((pair) => {
    const [name = "", reads = ""] = pair.split("<");
    return { name, reads };
  });

function placed(graph: Layout<Node>): Map<string, Spot<Node>> {
  return new Map(graph.spots.map((spot) => [spot.node.name, spot] as const));
}

Deno.test("layout() places a variable above its readers, by the longest path", () => {
  const graph = layout(nodes("d", "c", "b", "a"), edges("b<a", "c<b", "d<c", "d<a", "d<gone", "a<a"));
  const at = placed(graph);
  const heights = ["a", "b", "c", "d"].map((name) => at.get(name)?.y ?? NaN);
  assert.deepEqual(heights, heights.toSorted((one, other) => one - other));
  assert.equal(new Set(heights).size, 4);
  assert.equal(graph.links.length, 4, "what is no node and what reads itself has no line");
});

Deno.test("layout() leads an edge over several rows past the boxes between", () => {
  const graph = layout(nodes("a", "b", "c", "d", "e"), edges("b<a", "c<b", "d<c", "d<a", "e<a", "e<b", "e<d"));
  const passes = graph.links.flatMap(({ via }: { readonly via: readonly { x: number; y: number }[] }) => via);
  assert.equal(passes.length, 2 + 3 + 2, "one in each row between");
  for (const { x, y } of passes) {
    assert.ok(x > 0 && x < graph.width);
    for (const spot of placed(graph).values()) {
      assert.ok(spot.y !== y || x < spot.x || x > spot.x + graph.box.width, `${spot.node.name} stands on a line`);
    }
  }
});

Deno.test("layout() draws cycles, and nothing over another", () => {
  const graph = layout(nodes("a", "b", "c", "x"), edges("a<b", "b<c", "c<a", "x<a"));
  const spots = [...placed(graph).values()];
  assert.equal(spots.length, 4);
  assert.equal(new Set(spots.map(({ x, y }) => `${x} ${y}`)).size, 4);
  for (const { x, y } of spots) {
    assert.ok(x >= 0 && y >= 0 && x + graph.box.width <= graph.width && y + graph.box.height <= graph.height);
  }
});

Deno.test("layout() takes a long chain and a dense graph", () => {
  const names = Array.from({ length: 5000 }, (_, at) => `v${at}`);
  const chain = layout(nodes(...names), names.slice(1).map((name, at) => ({ name, reads: `v${at}` })));
  assert.equal(chain.spots.length, 5000);
  const some = names.slice(0, 120);
  const dense = some.flatMap((name, at) => some.slice(0, at).map((reads) => ({ name, reads })));
  assert.equal(layout(nodes(...some.toReversed()), dense).links.length, dense.length);
});

Deno.test("layout() of one node has room for it", () => {
  const { width, height, box, spots } = layout(nodes("only"), []);
  assert.equal(spots.length, 1);
  assert.ok(width > box.width && height > box.height);
});
