import type { JSX } from "preact";
import { asked } from "../store/ask.ts";
import { elements } from "../store/elements.ts";

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
