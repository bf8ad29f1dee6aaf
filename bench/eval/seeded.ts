export interface Seeded {
  next(): number;
  below(end: number): number;
  pick<T>(choices: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  const pick = <T>(choices: readonly T[]): T => {
    const choice = choices[below(choices.length)];
    if (choice === undefined) throw new RangeError("Cannot pick a choice: there are 0");
    return choice;
  };
  const shuffle = <T>(items: readonly T[]): T[] =>
    items.map((item) => ({ item, key: next() })).sort((a, b) => a.key - b.key).map(({ item }) => item);
  return { next, below, pick, shuffle };
}
