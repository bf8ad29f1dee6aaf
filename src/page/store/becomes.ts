import { effect } from "@preact/signals";

/** Resolves when signals have made it true. Somebody else may have made it false again by then: look once more. */
export async function becomes(holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (holds()) resolve();
  });
  await promise;
  stop();
}
