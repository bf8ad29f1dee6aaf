import { Actions } from "./actions.js";
import { dropToken, json, keepToken, REFUSED, Refused, takeToken } from "./api.js";
import { byId, clean, say } from "./dom.js";
import { showGraph } from "./graph.js";
import { showKeys } from "./keys.js";
import { Sidebar } from "./sidebar.js";
import { Thread } from "./thread.js";
import { showVariables } from "./variables.js";

const THEME = "vis-theme";
const WRONG =
  "The server rejected this token: it is wrong or has expired. vis serve prints the name of the token file at start.";
/** The branch opened most recently. */
const shown = { branchId: null };

const thread = new Thread({
  guarded,
  opened: (facts) => {
    titled(facts.title);
    actions.show(facts);
    if (facts.branchId !== shown.branchId) sidebar.show(false);
    shown.branchId = facts.branchId;
    sidebar.render();
  },
  changed: () => void guarded(() => sidebar.load()),
});
const sidebar = new Sidebar({
  guarded,
  isOpen: ({ conversationId }) => thread.id !== null && thread.facts?.conversationId === conversationId,
});
const actions = new Actions(thread, {
  guarded,
  renamed: (title) => {
    titled(title);
    void guarded(() => sidebar.load());
  },
  deleted: () => {
    fresh();
    void guarded(() => sidebar.load());
  },
});

function titled(title) {
  document.title = `${clean(title)} · Vis`;
  byId("title").textContent = clean(title);
  byId("title").title = clean(title);
}

/** Reports every error; a refused token is handled separately. */
async function guarded(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return;
    if (byId("frame").hidden) askToken(error.message);
    else say(error.message, { bad: true });
  }
}

function refused() {
  dropToken();
  for (const id of ["viewer", "ask"]) byId(id).close();
  askToken(WRONG);
}

function askToken(why) {
  byId("frame").hidden = true;
  byId("entry").hidden = false;
  if (why) byId("entry-why").textContent = why;
  byId("token").focus();
}

async function enter() {
  const facts = await json("/api/v1");
  byId("entry").hidden = true;
  byId("frame").hidden = false;
  byId("facts").textContent = `${facts.provider} · ${facts.model}`;
  byId("facts").title = `${facts.provider} ${facts.model} in ${facts.workspace}, Vis ${facts.version}`;
  await Promise.all([sidebar.load(), route({ anew: true })]);
  if (matchMedia("(hover: hover)").matches) byId("request").focus(); // a phone would open its keyboard
  performance.mark("vis-usable");
}

/** `#c=<conversation or branch>`, with `q` and `s` for the query and the step to show. `anew`: also reloads what is
 * open. */
async function route({ anew = false } = {}) {
  const at = new URLSearchParams(location.hash.slice(1));
  const id = at.get("c");
  if (id === null) return thread.blank();
  if (anew || id !== thread.id) void guarded(() => thread.open(id, { reveal: at.get("q"), step: Number(at.get("s")) }));
  else if (at.has("q")) await thread.reveal(at.get("q"), Number(at.get("s")));
}

function grow() {
  const area = byId("request");
  area.style.height = "auto";
  if (area.scrollHeight > 0) area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}

async function send() {
  const text = byId("request").value;
  if (text.trim() === "") return;
  byId("request").value = "";
  grow();
  say("");
  const state = { taken: false };
  await guarded(async () => {
    try {
      await thread.send(text, () => state.taken = true);
    } catch (error) {
      if (!state.taken && byId("request").value === "") byId("request").value = text; // keeps what was typed
      grow();
      throw error;
    }
  });
}

function toggleTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem(THEME, document.documentElement.dataset.theme);
}

function fresh() {
  if (location.hash !== "") history.pushState(null, "", location.pathname);
  thread.blank();
  byId("request").focus();
}

function onKey(event) {
  const command = event.ctrlKey || event.metaKey;
  const isOver = byId("viewer").open || byId("ask").open;
  if (event.key === "Escape" && !isOver && byId("side").classList.contains("open")) return sidebar.show(false);
  if (event.key === "Escape" && !isOver && thread.running) void guarded(() => thread.cancel());
  if (command && event.key === "k") {
    event.preventDefault();
    byId("viewer").close();
    sidebar.show(true);
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

function onRequestKey(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void send();
}

function listen() {
  const click = (id, run) => byId(id).addEventListener("click", run);
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  byId("request").addEventListener("keydown", onRequestKey);
  byId("request").addEventListener("input", grow);
  click("cancel", () => void guarded(() => thread.cancel()));
  click("new", fresh);
  click("theme", toggleTheme);
  click("keys", () => void showKeys());
  click("variables", () => void showVariables(thread.id));
  click("graph", () => void showGraph(thread.id));
  byId("entry").addEventListener("submit", (event) => {
    event.preventDefault();
    keepToken(byId("token").value.trim());
    void guarded(enter);
  });
  for (const name of ["hashchange", "popstate"]) addEventListener(name, () => void guarded(() => route()));
  addEventListener(REFUSED, refused);
  addEventListener("resize", grow); // lines wrap differently then
  addEventListener("keydown", onKey);
}

const theme = localStorage.getItem(THEME);
if (theme) document.documentElement.dataset.theme = theme;
listen();
if (takeToken()) void guarded(enter);
else askToken();
