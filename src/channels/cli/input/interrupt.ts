import type { Io } from "../../channel.ts";

/** A signal that Ctrl-C and other signals of the system abort until the end of the scope. */
export function interrupt(io: Pick<Io, "onInterrupt">): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const stop = io.onInterrupt(() => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: stop };
}
