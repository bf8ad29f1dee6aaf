import { element } from "./dom.js";
import { view } from "./viewer.js";

const KEYS = {
  "Request field": {
    Enter: "send; adds instructions while a request is running",
    "Shift + Enter": "new line",
  },
  Everywhere: {
    Esc: "close a dialog or menu, otherwise cancel the running request",
    "Ctrl + K": "find a conversation; Enter searches all texts",
    "Ctrl + Shift + O": "new conversation",
    "Ctrl + /": "show this list",
  },
  "Conversation list": { "↑ ↓": "select a conversation" },
  "Step details": { "← →": "previous or next step" },
};

/** Shows the keyboard shortcuts. On a Mac ⌘ works like Ctrl. */
export async function showKeys() {
  await view("Keyboard shortcuts", () => Object.entries(KEYS).map(([place, keys]) => group(place, keys)));
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
