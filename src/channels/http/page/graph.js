import { inApi, json } from "./api.js";
import { button, clean, drawing, element, plural } from "./dom.js";
import { layout } from "./layout.js";
import { showVariable } from "./variables.js";
import { view } from "./viewer.js";

/** More nodes could be neither read nor drawn quickly. */
const MAX_NODES = 300;
const NAME_CHARS = 18;
const SHAPE_CHARS = 25;
/** At a smaller scale names are unreadable. */
const READABLE = .65;

/** Shows which variables were made from which. */
export async function showGraph(conversation) {
  await view("Variable graph", async () => {
    const { nodes, edges } = await json(inApi("conversations", conversation, "graph"));
    const own = nodes.filter(({ scope }) => scope !== "system").toReversed();
    if (own.length === 0) return [element("p", { text: "No variables yet" })];
    const shown = mostUsed(own, edges);
    const left = own.length - shown.length;
    const note = `${plural(shown.length, "variable")}${
      left > 0 ? `; ${left} with the fewest connections are hidden` : ""
    }`;
    const drawn = draw(layout(shown, edges), { open: (name) => void showVariable(conversation, name) });
    const sheet = element("div", {
      class: "sheet",
      tabindex: 0,
      "aria-label": "Variable graph, scrollable",
      role: "region",
      children: [drawn],
    });
    const bar = element("div", { class: "bar", children: [...zoom(drawn, sheet), element("span", { text: note })] });
    return [bar, sheet];
  });
}

function mostUsed(nodes, edges) {
  if (nodes.length <= MAX_NODES) return nodes;
  const ties = new Map();
  for (const name of edges.flatMap((edge) => [edge.name, edge.reads])) ties.set(name, (ties.get(name) ?? 0) + 1);
  const ranked = nodes.toSorted((a, b) => (ties.get(b.name) ?? 0) - (ties.get(a.name) ?? 0));
  const kept = new Set(ranked.slice(0, MAX_NODES));
  return nodes.filter((node) => kept.has(node));
}

function zoom(drawn, sheet) {
  const size = { by: 1 };
  const to = (factor) => () => {
    size.by = factor === 0 ? 1 : Math.min(3, Math.max(.2, size.by * factor));
    const { width, height } = drawn.viewBox.baseVal;
    drawn.setAttribute("width", width * size.by);
    drawn.setAttribute("height", height * size.by);
  };
  // A graph slightly wider than its container is scaled down, as long as it stays readable.
  const fit = new ResizeObserver(() => {
    fit.disconnect();
    const by = (sheet.clientWidth - 2) / drawn.viewBox.baseVal.width;
    if (by < 1) to(Math.max(READABLE, by))();
  });
  fit.observe(sheet);
  return [
    button("−", { "aria-label": "Zoom out", class: "go", run: to(.8) }),
    button("+", { "aria-label": "Zoom in", class: "go", run: to(1.25) }),
    button("100 %", { class: "go", run: to(0) }),
  ];
}

function draw({ width, height, box, spots, links }, { open }) {
  const lines = links.map(({ from, to, via }) =>
    drawing("path", {
      class: "edge",
      d: curve(from, to, { box, via }),
      "data-from": from.node.name,
      "data-to": to.node.name,
    })
  );
  const boxes = spots.map((spot) => nodeBox(spot, { box, lines, open }));
  const head = drawing("path", { d: "M0 0L8 4L0 8z", class: "head" });
  const marker = {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerUnits: "userSpaceOnUse",
    markerWidth: 9,
    markerHeight: 9,
    orient: "auto",
  };
  const defs = drawing("defs", { children: [drawing("marker", { ...marker, children: [head] })] });
  for (const line of lines) line.setAttribute("marker-end", "url(#arrow)");
  const label = { role: "group", "aria-label": "Variables; arrows lead from a variable to those computed from it" };
  return drawing("svg", {
    ...{ width, height, viewBox: `0 0 ${width} ${height}`, class: "graph", ...label },
    children: [defs, ...lines, ...boxes],
  });
}

function nodeBox({ node, x, y }, { box, lines, open }) {
  const { name, kind, scope, versions, shape } = node;
  const light = (is) => () => {
    for (const line of lines) {
      const { from, to } = line.dataset;
      if (from === name || to === name) line.classList.toggle(from === name ? "used" : "read", is);
    }
  };
  const short = (text, max) => text.length > max ? `${text.slice(0, max - 1)}…` : text;
  const shown = [short(name, NAME_CHARS), short(`v${versions} · ${shape || kind}`, SHAPE_CHARS)];
  const part = (at, dy, kind) => drawing("tspan", { x: x + 10, y: y + dy, class: kind, text: shown[at] });
  return drawing("g", {
    class: `node ${scope} k-${kind}`,
    role: "button",
    tabindex: 0,
    "aria-label": clean(shown.join(" ")),
    "aria-description": clean(`${name}: ${shape || kind}`),
    children: [
      drawing("rect", { x, y, width: box.width, height: box.height, rx: 9 }),
      drawing("text", { children: [part(0, 18, "name"), " ", part(1, 34, "shape")] }),
    ],
    on: {
      click: () => open(name),
      keydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        open(name);
      },
      ...{ mouseenter: light(true), mouseleave: light(false), focus: light(true), blur: light(false) },
    },
  });
}

/** Leads down from the middle of one box to the middle of the other; upward edges go around the side. */
function curve(from, to, { box: { width, height }, via }) {
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
