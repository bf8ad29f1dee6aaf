import { json } from "./api.js";
import { byId, element } from "./dom.js";
import { view } from "./viewer.js";

/** Looks for words in all conversations. */
export async function search(words) {
  await view(`Found for ${words}`, async () => {
    const { items } = await json(`/api/v1/search?limit=50&q=${encodeURIComponent(words)}`);
    if (items.length === 0) return [element("p", { text: "Nothing has all of these words" })];
    return items.map(place);
  });
}

function place({ branchId, queryId, position, title, kind, snippet, at }) {
  const step = position === null || position === undefined ? "" : `&s=${position + 1}`;
  const link = element("a", {
    href: `#c=${branchId}&q=${queryId}${step}`,
    text: title,
    on: { click: () => byId("viewer").close() },
  });
  const facts = element("small", { text: ` ${kind} · ${new Date(at).toLocaleString()}` });
  return element("section", { class: "hit", children: [link, facts, element("p", { children: marked(snippet) })] });
}

/** The words stand in brackets; so may much of code, which keeps its own. */
function marked(snippet) {
  return snippet.split(/(\[[\p{L}\p{N}_]+\])/u).map((part) =>
    /^\[[\p{L}\p{N}_]+\]$/u.test(part) ? element("mark", { text: part.slice(1, -1) }) : element("span", { text: part })
  );
}
