import { byId, element } from "./dom.js";

/** Prompts for text, or for a confirmation if `value` is null. Resolves with the text ("" for a confirmation), or with
 * null when dismissed. */
export async function ask(question, { value = null, verb }) {
  const dialog = byId("ask");
  const input = element("input", { type: "text", id: "ask-text", maxlength: 1000, "aria-label": question });
  byId("ask-question").textContent = question;
  byId("ask-more").replaceChildren(...(value === null ? [] : [input]));
  byId("ask-yes").textContent = verb;
  byId("ask-yes").classList.toggle("danger", value === null);
  input.value = value ?? "";
  dialog.returnValue = "";
  dialog.showModal();
  if (value === null) byId("ask-no").focus();
  else input.select();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes" ? input.value : null;
}

byId("ask-form").addEventListener("submit", (event) => {
  event.preventDefault(); // the policy forbids submitting forms
  byId("ask").close("yes");
});
byId("ask-no").addEventListener("click", () => byId("ask").close(""));
