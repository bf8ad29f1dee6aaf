import { signal } from "@preact/signals";
import { drawn } from "./drawn.ts";
import { elements } from "./elements.ts";

interface Asked {
  readonly question: string;
  /** Null for a confirmation. */
  readonly value: string | null;
  readonly verb: string;
  readonly count: number;
}

/** What the dialog asks. */
export const asked = signal<Asked>({ question: "", value: null, verb: "", count: 0 });

/** Prompts for text, or for a confirmation if `value` is null. Resolves with the text ("" for a confirmation), or with
 * null when dismissed. */
export async function ask(
  question: string,
  { value = null, verb }: { readonly value?: string | null; readonly verb: string },
): Promise<string | null> {
  const dialog = elements.ask.current;
  if (dialog === null) return null;
  asked.value = { question, value, verb, count: asked.value.count + 1 };
  await drawn();
  const input = dialog.querySelector("input");
  dialog.returnValue = "";
  dialog.showModal();
  if (input === null) dialog.querySelector<HTMLElement>("#ask-no")?.focus();
  else input.select();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes" ? input?.value ?? "" : null;
}
