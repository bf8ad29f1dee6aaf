/** Milliseconds to wait after so many failures in a row: twice as long each time up to `mostMs`, of which half is by
 * chance (`random`: 0 up to 1), so that many clients do not come back at once. */
export function backoffMs(
  failures: number,
  { firstMs, mostMs, random }: { readonly firstMs: number; readonly mostMs: number; readonly random: () => number },
): number {
  return Math.min(mostMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
