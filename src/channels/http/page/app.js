import { dropToken, inApi, json, keepToken, Refused, request, takeToken } from "./api.js";
import { byId, element } from "./dom.js";
import { search } from "./search.js";
import { Thread } from "./thread.js";
import { showVariables } from "./variables.js";

const THEME = "vis-theme";
const list = { items: [], next: null };

const thread = new Thread({
  opened: ({ title, branchId = null }) => {
    document.title = `${title} · Vis`;
    byId("title").textContent = title;
    for (const id of ["variables", "rename", "delete"]) byId(id).hidden = branchId === null;
    showSide(false);
    renderList();
  },
  changed: () => void guarded(loadList),
});

function say(text) {
  byId("status").textContent = text;
}

/** A wrong token asks for another one; every other fault is said. */
async function guarded(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) return say(error.message);
    dropToken();
    askToken("The server did not take this token.");
  }
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
  byId("facts").textContent = `${facts.provider} ${facts.model}`;
  byId("facts").title = facts.workspace;
  await loadList();
  await route();
  byId("request").focus();
}

async function loadList() {
  Object.assign(list, await json(`${inApi("conversations")}?limit=50`));
  renderList();
}

async function loadMore() {
  const page = await json(`${inApi("conversations")}?limit=50&cursor=${list.next}`);
  Object.assign(list, { items: [...list.items, ...page.items], next: page.next });
  renderList();
}

function renderList() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const found = list.items.filter(({ title }) => title.toLowerCase().includes(wanted));
  byId("list").replaceChildren(...found.map(({ conversationId, branchId, title, queries, createdAt }) => {
    const current = thread.id === conversationId || thread.id === branchId;
    const facts = `${new Date(createdAt).toLocaleDateString()} · ${queries} ${queries === 1 ? "request" : "requests"}`;
    const link = element("a", {
      href: `#c=${conversationId}`,
      "aria-current": current ? "page" : undefined,
      children: [element("span", { text: title }), element("small", { text: facts })],
    });
    return element("li", { children: [link] });
  }));
  if (found.length === 0) byId("list").append(element("li", { class: "none", text: "No conversation" }));
  byId("more").hidden = list.next === null;
}

async function route() {
  const id = new URLSearchParams(location.hash.slice(1)).get("c");
  if (id === null) return thread.blank();
  if (id !== thread.id) await thread.open(id);
}

function showSide(open) {
  byId("side").classList.toggle("open", open);
  byId("menu").setAttribute("aria-expanded", String(open));
}

function grow() {
  const area = byId("request");
  area.rows = Math.min(10, area.value.split("\n").length);
}

async function send() {
  const text = byId("request").value;
  if (text.trim() === "") return;
  byId("request").value = "";
  grow();
  say("");
  await guarded(async () => {
    try {
      await thread.send(text);
    } catch (error) {
      if (byId("request").value === "") byId("request").value = text; // nothing that was typed is lost
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

async function rename() {
  const title = prompt("Title", byId("title").textContent)?.trim();
  if (!title) return;
  const kept = await json(inApi("conversations", thread.id), { method: "PATCH", body: { title } });
  byId("title").textContent = kept.title;
  await loadList();
}

async function remove() {
  if (!confirm(`Delete "${byId("title").textContent}" with all its branches?`)) return;
  await request(inApi("conversations", thread.id), { method: "DELETE" });
  fresh();
  await loadList();
}

function onFilterKey(event) {
  const words = byId("filter").value.trim();
  if (event.key !== "Enter" || words === "") return;
  event.preventDefault(); // or it would press the button that closes what it opens
  void search(words);
}

function onKey(event) {
  const command = event.ctrlKey || event.metaKey;
  if (event.key === "Escape" && !byId("viewer").open && thread.running) void guarded(() => thread.cancel());
  if (command && event.key === "k") {
    event.preventDefault();
    showSide(true);
    byId("filter").focus();
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
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  byId("request").addEventListener("keydown", onRequestKey);
  byId("request").addEventListener("input", grow);
  byId("cancel").addEventListener("click", () => void guarded(() => thread.cancel()));
  byId("new").addEventListener("click", fresh);
  byId("more").addEventListener("click", () => void guarded(loadMore));
  byId("filter").addEventListener("input", renderList);
  byId("filter").addEventListener("keydown", onFilterKey);
  byId("rename").addEventListener("click", () => void guarded(rename));
  byId("delete").addEventListener("click", () => void guarded(remove));
  byId("menu").addEventListener("click", () => showSide(!byId("side").classList.contains("open")));
  byId("theme").addEventListener("click", toggleTheme);
  byId("variables").addEventListener("click", () => void showVariables(thread.id));
  byId("entry").addEventListener("submit", (event) => {
    event.preventDefault();
    keepToken(byId("token").value.trim());
    void guarded(enter);
  });
  addEventListener("hashchange", () => void guarded(route));
  addEventListener("popstate", () => void guarded(route));
  addEventListener("keydown", onKey);
}

const theme = localStorage.getItem(THEME);
if (theme) document.documentElement.dataset.theme = theme;
listen();
if (takeToken()) void guarded(enter);
else askToken();
