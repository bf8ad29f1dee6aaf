import { createRef } from "preact";

/** The elements that are focused, scrolled or opened from elsewhere. */
export const elements = {
  actions: createRef<HTMLDetailsElement>(),
  ask: createRef<HTMLDialogElement>(),
  filter: createRef<HTMLInputElement>(),
  request: createRef<HTMLTextAreaElement>(),
  thread: createRef<HTMLElement>(),
  token: createRef<HTMLInputElement>(),
  viewer: createRef<HTMLDialogElement>(),
};

/** Resolves when what was changed before is in the document: components are drawn in a microtask. */
export async function drawn(): Promise<void> {
  await Promise.resolve();
  await Promise.resolve();
}
