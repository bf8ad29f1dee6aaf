import { button, element } from "./dom.js";

const SHOWN_MS = 1500;

/** A button that copies text to the clipboard; `text` returns it on click. */
export function copyButton(text, { label = "copy", ...given } = {}) {
  const made = button(label, {
    ...given,
    run: async () => {
      const done = await toClipboard(text());
      made.textContent = done ? "copied" : "copying failed";
      setTimeout(() => made.textContent = label, SHOWN_MS);
    },
  });
  return made;
}

/** Code with a copy button in its corner. */
export function copyable(pre, { what = "code" } = {}) {
  const code = () => pre.querySelector("code")?.textContent ?? pre.textContent;
  const copy = copyButton(code, { class: "copy", "aria-label": `copy ${what}` });
  return element("div", { class: "copyable", children: [pre, copy] });
}

/** Browsers give pages no clipboard away from loopback without TLS, but still copy a selection. */
async function toClipboard(text) {
  try {
    if (navigator.clipboard) return await navigator.clipboard.writeText(text).then(() => true);
  } catch {
    // Not allowed: falls back to the selection.
  }
  const area = element("textarea", { class: "unseen" });
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
