export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not begin with neighbouring numbers.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
    for (let n = 0; n < 4; n++) this.below(2);
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * limit);
  }

  chance(share: number): boolean {
    return this.below(1_000_000) < share * 1_000_000;
  }

  pick<T>(list: readonly T[]): T {
    const index = this.below(list.length);
    if (index >= list.length) throw new Error("Cannot pick from an empty list");
    return list[index] as T;
  }
}
