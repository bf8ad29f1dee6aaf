/** Whether the work has settled, however it did, before the time was over. */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const done = (): void => resolve(true);
  work.then(done, done);
  return await promise.finally(() => clearTimeout(timer));
}
