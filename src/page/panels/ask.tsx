import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { drawn, elements } from "../store/elements.ts";

interface Asked {
  readonly question: string;
  /** Null for a confirmation. */
  readonly value: string | null;
  readonly verb: string;
  readonly count: number;
}

/** What the dialog asks. */
const asked = signal<Asked>({ question: "", value: null, verb: "", count: 0 });

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

/** The dialog that prompts for a text or a confirmation. */
export function AskDialog(): JSX.Element {
  const { question, value, verb, count } = asked.value;
  const close = (answer: string): void => elements.ask.current?.close(answer);
  const onSubmit = (event: Event): void => {
    event.preventDefault(); // the policy forbids submitting forms
    close("yes");
  };
  return (
    <dialog id="ask" aria-labelledby="ask-question" ref={elements.ask}>
      <form id="ask-form" onSubmit={onSubmit}>
        <h2 id="ask-question">{question}</h2>
        <div id="ask-more">
          {value !== null && (
            <input key={count} type="text" id="ask-text" maxLength={1000} aria-label={question} defaultValue={value} />
          )}
        </div>
        <footer>
          <button id="ask-no" type="button" onClick={() => close("")}>Cancel</button>
          <button id="ask-yes" type="submit" class={value === null ? "primary danger" : "primary"}>{verb}</button>
        </footer>
      </form>
    </dialog>
  );
}
