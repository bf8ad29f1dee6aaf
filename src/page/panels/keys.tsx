import type { JSX } from "preact";
import { view } from "./viewer.tsx";

const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
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
export async function showKeys(): Promise<void> {
  await view("Keyboard shortcuts", () => Object.entries(KEYS).map(([place, keys]) => group(place, keys)));
}

function group(place: string, keys: Readonly<Record<string, string>>): JSX.Element {
  return (
    <section>
      <h3>{place}</h3>
      <dl>
        {Object.entries(keys).map(([key, does]) => [
          <dt>{key.split(" ").map((part) => [part === "+" ? "+" : <kbd>{part}</kbd>, " "])}</dt>,
          <dd>{does}</dd>,
        ])}
      </dl>
    </section>
  );
}
