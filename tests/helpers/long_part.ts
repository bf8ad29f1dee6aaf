/** Returns the number of repetitions: `most` in a run with `--all`, otherwise `few`, which still covers every kind of
 * case. */
export function runs(few: number, most: number): number {
  return Deno.env.get("VIS_TESTS_ALL") ? most : few;
}
