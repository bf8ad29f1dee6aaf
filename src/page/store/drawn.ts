/** Resolves when what was changed before is in the document: components are drawn in a microtask. */
export async function drawn(): Promise<void> {
  await Promise.resolve();
  await Promise.resolve();
}
