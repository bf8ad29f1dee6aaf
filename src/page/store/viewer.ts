import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { elements } from "./elements.ts";

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
export const viewed = signal<Viewed>({ title: "", busy: false, content: null, fault: "", count: 0 });

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
