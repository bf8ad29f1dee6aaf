import { element } from "./dom.js";
import { view } from "./viewer.js";

const KEYS = {
  "In the request": {
    Enter: "sends; while a query runs it is told",
    "Shift + Enter": "is a new line",
  },
  Everywhere: {
    Esc: "closes what is open, else cancels the query that runs",
    "Ctrl + K": "finds a conversation; Enter there searches all texts",
    "Ctrl + Shift + O": "begins a new conversation",
    "Ctrl + /": "shows this",
  },
  "In the list": { "↑ ↓": "walk through the conversations" },
  "In an inspected step": { "← →": "the step before, the next step" },
};

/** Shows the keyboard shortcuts. On a Mac ⌘ works like Ctrl. */
export async function showKeys() {
  await view("Keys", () => Object.entries(KEYS).map(([place, keys]) => group(place, keys)));
}

function group(place, keys) {
  const rows = Object.entries(keys).flatMap(([key, does]) => [
    element("dt", {
      children: key.split(" ").flatMap((part) => [part === "+" ? "+" : element("kbd", { text: part }), " "]),
    }),
    element("dd", { text: does }),
  ]);
  return element("section", { children: [element("h3", { text: place }), element("dl", { children: rows })] });
}
