import { byId, element } from "./dom.js";

/** A window over the page. `make` gives what stands in it. */
export async function view(title, make) {
  const body = byId("viewer-body");
  byId("viewer-title").textContent = title;
  body.replaceChildren(element("p", { text: "One moment" }));
  const dialog = byId("viewer");
  if (!dialog.open) dialog.showModal();
  try {
    body.replaceChildren(...await make());
  } catch (error) {
    body.replaceChildren(element("p", { class: "reason", text: error.message }));
  }
}

byId("viewer-close").addEventListener("click", () => byId("viewer").close());
byId("viewer").addEventListener("click", (event) => {
  if (event.target === byId("viewer")) byId("viewer").close();
});
