import { button, byId, element } from "./dom.js";

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

/** What an extension asks; `answer` receives the decision and the reason, and may reject. */
export function questionCard({ what, why, scope }, answer) {
  const reason = element("input", {
    type: "text",
    maxlength: 1000,
    "aria-label": "Why not",
    placeholder: "Why not (optional)",
  });
  const choice = (decision, text, kind) =>
    button(text, {
      class: kind,
      run: () => void answer({ decision, reason: decision === "no" ? reason.value.trim() : "" }),
    });
  return element("section", {
    class: "question",
    "aria-label": "Vis asks",
    children: [
      element("p", { class: "plain", text: `Allow Vis to ${what}?` }),
      ...(why === "" ? [] : [element("p", { class: "plain why", text: why })]),
      element("p", {
        class: "choices",
        children: [
          choice("once", "Yes, this time", "primary"),
          choice("conversation", `Yes, and ${scope} in this conversation`),
          choice("workspace", `Yes, and ${scope} in this workspace from now on`),
        ],
      }),
      element("p", { class: "choices", children: [choice("no", "No", "danger"), reason] }),
    ],
  });
}

byId("ask-form").addEventListener("submit", (event) => {
  event.preventDefault(); // the policy forbids submitting forms
  byId("ask").close("yes");
});
byId("ask-no").addEventListener("click", () => byId("ask").close(""));
