import { inApi, json } from "./api.js";
import { byId, element, plural } from "./dom.js";
import { search } from "./search.js";

const PAGE = 50;

/** The sidebar with the list of conversations. */
export class Sidebar {
  #items = [];
  #next = null;
  #given;

  /** `isOpen` reports whether a conversation is the one shown. */
  constructor({ isOpen, guarded }) {
    this.#given = { isOpen, guarded };
    byId("more").addEventListener("click", () => void guarded(() => this.#more()));
    byId("filter").addEventListener("input", () => this.render());
    byId("filter").addEventListener("keydown", (event) => this.#onFilterKey(event));
    byId("list").addEventListener("keydown", (event) => this.#onListKey(event));
    byId("menu").addEventListener("click", () => this.show(!byId("side").classList.contains("open")));
    byId("shade").addEventListener("click", () => this.show(false));
  }

  async load() {
    const limit = Math.min(200, Math.max(PAGE, this.#items.length));
    const { items, next } = await json(`${inApi("conversations")}?limit=${limit}`);
    this.#items = items;
    this.#next = next;
    this.render();
  }

  show(open) {
    byId("side").classList.toggle("open", open);
    byId("shade").hidden = !open;
    byId("menu").setAttribute("aria-expanded", String(open));
    if (open) byId("filter").focus();
  }

  render() {
    const wanted = byId("filter").value.trim().toLowerCase();
    const found = this.#items.filter(({ title }) => title.toLowerCase().includes(wanted));
    byId("list").replaceChildren(...found.map((one) => this.#row(one)));
    const none = wanted === "" ? "No conversations yet" : "No matching title. Enter searches all texts";
    if (found.length === 0) byId("list").append(element("li", { class: "none", text: none }));
    byId("more").hidden = this.#next === null;
  }

  #row(one) {
    const { conversationId, title, queries, createdAt } = one;
    const facts = `${when(createdAt)} · ${plural(queries, "request")}`;
    const link = element("a", {
      href: `#c=${conversationId}`,
      title,
      "aria-current": this.#given.isOpen(one) ? "page" : undefined,
      children: [element("span", { text: title }), element("small", { text: facts })],
    });
    return element("li", { children: [link] });
  }

  async #more() {
    const page = await json(`${inApi("conversations")}?limit=${PAGE}&cursor=${encodeURIComponent(this.#next)}`);
    this.#items = [...this.#items, ...page.items];
    this.#next = page.next;
    this.render();
  }

  #onFilterKey(event) {
    const words = byId("filter").value.trim();
    if (event.key === "ArrowDown") return this.#move(event, 1);
    if (event.key !== "Enter" || words === "") return;
    event.preventDefault(); // otherwise it would press the button that closes what it opens
    void search(words);
  }

  #onListKey(event) {
    if (event.key === "ArrowDown") this.#move(event, 1);
    if (event.key === "ArrowUp") this.#move(event, -1);
  }

  #move(event, by) {
    event.preventDefault();
    const links = [...byId("list").querySelectorAll("a")];
    const at = links.indexOf(document.activeElement) + by;
    if (at < 0) byId("filter").focus();
    else links[at]?.focus();
  }
}

function when(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { timeStyle: "short" }) : date.toLocaleDateString();
}
