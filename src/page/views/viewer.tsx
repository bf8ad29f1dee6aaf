import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { elements } from "../store/elements.ts";
import { viewed } from "../store/viewer.ts";

/** The window over the page. */
export function Viewer(): JSX.Element {
  const { title, busy, content, fault, count } = viewed.value;
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!busy && body.current) body.current.scrollTop = 0;
  }, [count, busy]);
  const close = (): void => elements.viewer.current?.close();
  // The arrow keys press the buttons of what has steps.
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
      <div id="viewer-body" ref={body} aria-busy={busy ? "true" : undefined}>
        {fault !== "" ? <p class="reason">{fault}</p> : content ?? (busy && <p>Loading…</p>)}
      </div>
    </dialog>
  );
}
