const FIRST_MS = 1_000, MOST_MS = 60_000;

/** How long to wait after so many failures in a row: twice as long each time up to a minute, of which half is by chance,
 * so that many bots do not come back at once. */
export function backoff(failures: number, random: () => number): number {
  const full = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(full / 2 + full / 2 * random());
}
