/** Returns the number of repetitions: `most` in a run with `--all`, otherwise `few`, which still covers every kind of
 * case. */
export function runs(few: number, most: number): number {
  return Deno.env.get("VIS_TESTS_ALL") ? most : few;
}

/** Returns all cases in a run with `--all`, otherwise the first `few`, which still contain each kind of case. */
export function cases<T>(few: number, all: readonly T[]): readonly T[] {
  return all.slice(0, runs(few, all.length));
}
