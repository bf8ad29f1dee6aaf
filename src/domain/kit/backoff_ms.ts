/** Milliseconds to wait after this many failures in a row. The wait doubles each time up to `mostMs`; half of it is
 * random (`random`: 0 up to 1), so that many clients do not retry at once. */
export function backoffMs(
  failures: number,
  { firstMs, mostMs, random }: { readonly firstMs: number; readonly mostMs: number; readonly random: () => number },
): number {
  return Math.min(mostMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
