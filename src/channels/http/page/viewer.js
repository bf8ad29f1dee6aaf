import { byId, element } from "./dom.js";

/** Counts views, so that one that loads late does not replace a newer one. */
const shown = { count: 0 };

/** A window over the page. `make` returns its content. */
export async function view(title, make) {
  const count = ++shown.count;
  const body = byId("viewer-body");
  byId("viewer-title").textContent = title;
  body.setAttribute("aria-busy", "true");
  const dialog = byId("viewer");
  if (!dialog.open) {
    body.replaceChildren(element("p", { text: "Loading…" }));
    dialog.showModal();
  }
  try {
    const nodes = await make();
    if (count !== shown.count) return;
    body.replaceChildren(...nodes);
    body.scrollTop = 0;
  } catch (error) {
    if (count === shown.count) body.replaceChildren(element("p", { class: "reason", text: error.message }));
  } finally {
    body.removeAttribute("aria-busy");
  }
}

/** Tabs, one visible at a time. `parts` maps names to functions that make the nodes. */
export function tabs(label, parts) {
  const panel = element("div", { class: "panel", role: "tabpanel", tabindex: 0 });
  const names = Object.keys(parts);
  const list = element("div", { class: "tabs", role: "tablist", "aria-label": label });
  const choose = (at) => {
    for (const [other, tab] of [...list.children].entries()) {
      tab.setAttribute("aria-selected", String(other === at));
      tab.tabIndex = other === at ? 0 : -1;
    }
    panel.setAttribute("aria-label", names[at]);
    panel.replaceChildren(...parts[names[at]]());
  };
  for (const [at, name] of names.entries()) {
    list.append(element("button", { type: "button", role: "tab", text: name, on: { click: () => choose(at) } }));
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    const at = ([...list.children].indexOf(document.activeElement) + step + names.length) % names.length;
    choose(at);
    list.children[at].focus();
  });
  choose(0);
  return [list, panel];
}

byId("viewer-close").addEventListener("click", () => byId("viewer").close());
byId("viewer").addEventListener("click", (event) => {
  if (event.target === byId("viewer")) byId("viewer").close();
});
