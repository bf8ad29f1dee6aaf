/** Even `few` repetitions must cover each kind of case. */
export function runs(few: number, most: number): number {
  return Deno.env.get("VIS_TESTS_ALL") ? most : few;
}

export function cases<T>(few: number, all: readonly T[]): readonly T[] {
  return all.slice(0, runs(few, all.length));
}
