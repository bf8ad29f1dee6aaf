import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawn, elements } from "../store/state.ts";

export async function view(title: string, make: () => ComponentChildren | Promise<ComponentChildren>): Promise<void> {
  const dialog = elements.viewer.current;
  const count = viewed.value.count + 1;
  const before = dialog?.open ? viewed.value.content : null;
  viewed.value = { title, busy: true, content: before, fault: "", count };
  if (!dialog?.open) dialog?.showModal();
  const done = (what: Partial<Viewed>) => {
    if (viewed.value.count === count) viewed.value = { ...viewed.value, busy: false, ...what };
  };
  try {
    done({ content: await make() });
  } catch (error) {
    done({ content: null, fault: error instanceof Error ? error.message : String(error) });
  }
}

interface Viewed {
  readonly title: string;
  readonly busy: boolean;
  readonly content: ComponentChildren;
  readonly fault: string;
  /** With this number, a view that loads late recognizes that a newer view is open. */
  readonly count: number;
}

const viewed = signal<Viewed>({ title: "", busy: false, content: null, fault: "", count: 0 });

export function Viewer(): JSX.Element {
  const { title, busy, content, fault, count } = viewed.value;
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!busy && body.current) body.current.scrollTop = 0;
  }, [count, busy]);
  const close = (): void => elements.viewer.current?.close();
  const onKey = ({ key }: KeyboardEvent): void => {
    const [before, after] = body.current?.querySelectorAll<HTMLElement>("[data-steps] > button") ?? [];
    if (key === "ArrowLeft") before?.click();
    if (key === "ArrowRight") after?.click();
  };
  return (
    <dialog
      id="viewer"
      aria-labelledby="viewer-title"
      ref={elements.viewer}
      onKeyDown={onKey}
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      <header>
        <h2 id="viewer-title">{title}</h2>
        <button id="viewer-close" type="button" aria-label="Close" onClick={close}>✕</button>
      </header>
      <div id="viewer-body" tabIndex={0} ref={body} aria-busy={busy ? "true" : undefined}>
        {fault !== "" ? <p class="reason">{fault}</p> : content ?? (busy && <p>Loading…</p>)}
      </div>
    </dialog>
  );
}

/** Resolves with the text, "" for a confirmation, or null if the user cancels. A null `value` asks without a text. */
export async function ask(
  question: string,
  { value = null, verb, isFinal = false }: {
    readonly value?: string | null;
    readonly verb: string;
    readonly isFinal?: boolean;
  },
): Promise<string | null> {
  const dialog = elements.ask.current;
  if (dialog === null) return null;
  asked.value = { question, value, verb, isFinal, count: asked.value.count + 1 };
  await drawn();
  const input = dialog.querySelector("input");
  dialog.returnValue = "";
  dialog.showModal();
  if (input === null) dialog.querySelector<HTMLElement>("#ask-no")?.focus();
  else input.select();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes" ? input?.value ?? "" : null;
}

interface Asked {
  readonly question: string;
  readonly value: string | null;
  readonly verb: string;
  readonly isFinal: boolean;
  readonly count: number;
}

const asked = signal<Asked>({ question: "", value: null, verb: "", isFinal: false, count: 0 });

export function AskDialog(): JSX.Element {
  const { question, value, verb, isFinal, count } = asked.value;
  const close = (answer: string): void => elements.ask.current?.close(answer);
  const onSubmit = (event: Event): void => {
    event.preventDefault(); // The content security policy forbids submitting forms.
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
          <button id="ask-yes" type="submit" class={isFinal ? "primary danger" : "primary"}>{verb}</button>
        </footer>
      </form>
    </dialog>
  );
}
