/** Divides `total` among `needs`: none gets more than it needs, and what small ones leave goes to the large ones. */
export function fairShares(needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0);
  const order = needs.map((need, at) => ({ need, at })).toSorted((a, b) => a.need - b.need);
  let left = Math.max(0, total);
  for (const [rank, { need, at }] of order.entries()) {
    const share = Math.min(need, Math.floor(left / (order.length - rank)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
