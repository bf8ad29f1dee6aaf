/** An amount of money in few characters. */
export function formatDollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
