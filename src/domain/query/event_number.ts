/** Numbers of the events of a query that several nodes ran, one after the other: those of each begin at a multiple, so
 * that what a lost node still sends comes before what the next one does. */
const EACH = 10_000_000;

/** The number before the first event of an epoch, 1-based. */
export function beforeEpoch(epoch: number): number {
  return (epoch - 1) * EACH;
}

/** How many events were omitted between two numbers. What is missing at the end of an epoch is unknown. */
export function omittedBetween(last: number, next: number): number {
  const from = Math.floor((next - 1) / EACH) * EACH;
  return next - Math.max(last, from) - 1;
}
