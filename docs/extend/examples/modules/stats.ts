/** The sandbox evaluates this module, so this module cannot import other modules. */
export function mean(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle) ? mean(sorted.slice(middle - 1, middle + 1)) : sorted[Math.floor(middle)] ?? NaN;
}
