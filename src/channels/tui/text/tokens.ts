/** A token count in few characters. */
export function tokens(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000
    ? `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`
    : `${(count / 1_000_000).toFixed(1)}M`;
}
