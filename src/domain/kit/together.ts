/** Waits until all of these have ended, also when one failed, and returns their results. Throws the first error in their
 * order. Nothing of them is still going on afterwards, as it may be with `Promise.all`. */
export async function together<const T extends readonly unknown[]>(
  works: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}
