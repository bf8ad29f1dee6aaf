/** Whether the work settled, either way, before the time was up. */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const done = (): void => resolve(true);
  work.then(done, done);
  return await promise.finally(() => clearTimeout(timer));
}
