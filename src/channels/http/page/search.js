import { json } from "./api.js";
import { byId, element } from "./dom.js";
import { view } from "./viewer.js";

/** Searches all conversations. */
export async function search(words) {
  await view(`Results for “${words}”`, async () => {
    const { items } = await json(`/api/v1/search?limit=50&q=${encodeURIComponent(words)}`);
    if (items.length === 0) return [element("p", { text: "No results" })];
    return items.map((item) => place(item, words));
  });
}

function place({ branchId, queryId, position, title, kind, snippet, at }, words) {
  const step = position === null || position === undefined ? "" : `&s=${position + 1}`;
  const link = element("a", {
    href: `#c=${branchId}&q=${queryId}${step}`,
    text: title,
    on: { click: () => byId("viewer").close() },
  });
  const facts = element("small", { text: ` ${kind} · ${new Date(at).toLocaleString()}` });
  return element("section", {
    class: "hit",
    children: [link, facts, element("p", { children: marked(snippet, words) })],
  });
}

/** Matches are in brackets. Text may contain other brackets, which are kept. Other forms of a word match as well. */
function marked(snippet, words) {
  const begins = plain(words).split(/[^\p{L}\p{N}_]+/u).filter(Boolean).map((word) => word.slice(0, 2));
  const isHit = (part) =>
    /^\[[\p{L}\p{N}_]+\]$/u.test(part) && begins.some((begin) => plain(part).startsWith(begin, 1));
  return snippet.split(/(\[[\p{L}\p{N}_]+\])/u).map((part) =>
    isHit(part) ? element("mark", { text: part.slice(1, -1) }) : element("span", { text: part })
  );
}

const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
