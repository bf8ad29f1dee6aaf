import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { elements } from "../store/elements.ts";

interface Viewed {
  readonly title: string;
  readonly busy: boolean;
  /** Null before there is any. */
  readonly content: ComponentChildren;
  readonly fault: string;
  /** Counts views, so that one that loads late does not replace a newer one. */
  readonly count: number;
}

/** What the window over the page shows. */
const viewed = signal<Viewed>({ title: "", busy: false, content: null, fault: "", count: 0 });

/** Opens a window over the page. `make` returns its content. */
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
