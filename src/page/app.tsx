import { render } from "preact";
import { cleanElements } from "./parts/texts.tsx";
import { dropToken, heldToken, keepToken, REFUSED, takeToken } from "./store/api.ts";
import { askToken, conversationList, drawn, elements, entry, guarded, serverFacts } from "./store/state.ts";
import { thread } from "./store/thread.ts";
import { Page } from "./views/page.tsx";
import { applyTheme, showKeys } from "./views/sidebar.tsx";
import { reveal } from "./views/thread_view.tsx";

const WRONG = "The server rejected this token: it is wrong or expired.";

function refused(): void {
  dropToken();
  elements.viewer.current?.close();
  elements.ask.current?.close();
  askToken(WRONG);
}

async function enter(): Promise<void> {
  await serverFacts.load();
  entry.value = { shows: "page", why: "" };
  await Promise.all([conversationList.load(), route({ anew: true })]);
  // On a phone, the focus would open the keyboard.
  if (matchMedia("(hover: hover)").matches) elements.request.current?.focus();
  performance.mark("vis-usable");
  await serverFacts.loadModels().catch(() => {}); // If the list of models is missing, the server's own model serves.
}

/** `#c=ID` names a conversation or branch, `q` a query, and `s` its step or, as -1, its answer. With `anew`, loads even
 * the open conversation. */
async function route({ anew = false } = {}): Promise<void> {
  const at = new URLSearchParams(location.hash.slice(1));
  const id = at.get("c");
  const query = at.get("q");
  if (id === null) return thread.blank();
  const place = async (): Promise<void> => {
    if (query !== null) await reveal(query, Number(at.get("s")));
  };
  if (anew || id !== thread.id.value) void guarded(() => thread.open(id, place));
  else await place();
}

function fresh(): void {
  if (location.hash !== "") history.pushState(null, "", location.pathname);
  thread.blank();
  elements.request.current?.focus();
}

function onKey(event: KeyboardEvent): void {
  const command = event.ctrlKey || event.metaKey;
  const isOver = elements.viewer.current?.open || elements.ask.current?.open;
  if (event.key === "Escape" && !isOver && conversationList.isOpen.value) return conversationList.show(false);
  if (event.key === "Escape" && !isOver && thread.running.value) void guarded(() => thread.cancel());
  if (command && event.key === "k") {
    event.preventDefault();
    elements.viewer.current?.close();
    conversationList.show(true, { byKey: true });
  }
  if (command && event.key === "/") {
    event.preventDefault();
    void showKeys();
  }
  if (command && event.shiftKey && event.key.toLowerCase() === "o") {
    event.preventDefault();
    fresh();
  }
}

function onAddress(): void {
  const before = heldToken();
  void guarded(takeToken() === before ? route : enter);
}

function enterWith(token: string): void {
  keepToken(token);
  void guarded(enter);
}

applyTheme();
cleanElements();
render(<Page enter={enterWith} fresh={fresh} />, document.body);
thread.listen();
for (const name of ["hashchange", "popstate"]) addEventListener(name, onAddress);
addEventListener(REFUSED, refused);
addEventListener("keydown", onKey);
await drawn();
if (takeToken()) void guarded(enter);
else askToken();
