import type { JSX } from "preact";
import { useState } from "preact/hooks";

const SHOWN_MS = 1500;

/** Copies a text to the clipboard; `text` returns it on click. */
export function CopyButton(
  { text, ...given }: { readonly text: () => string; readonly class: string; readonly "aria-label"?: string },
): JSX.Element {
  const [label, show] = useState("copy");
  const copy = async (): Promise<void> => {
    show(await toClipboard(text()) ? "copied" : "copying failed");
    setTimeout(() => show("copy"), SHOWN_MS);
  };
  return <button type="button" {...given} onClick={() => void copy()}>{label}</button>;
}

/** Browsers give pages no clipboard away from loopback without TLS, but still copy a selection. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) return await navigator.clipboard.writeText(text).then(() => true);
  } catch {
    // Not allowed: falls back to the selection.
  }
  const area = document.createElement("textarea");
  area.className = "unseen";
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
