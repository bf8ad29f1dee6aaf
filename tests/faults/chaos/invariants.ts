export interface Invariant {
  readonly what: string;
  readonly checked: number;
  readonly violations: readonly string[];
}

/** The rules that must hold, with the number of checks and the violations of each. */
export class Invariants {
  readonly #all = new Map<string, { checked: number; readonly violations: string[] }>();

  get all(): readonly Invariant[] {
    return [...this.#all].map(([what, found]) => ({ what, ...found }));
  }

  holds(what: string, isHeld: boolean, where: () => string): void {
    this.list(what, { checked: 1, violations: isHeld ? [] : [where()] });
  }

  list(what: string, { checked, violations }: Omit<Invariant, "what">): void {
    const found = this.#all.get(what) ?? { checked: 0, violations: [] };
    this.#all.set(what, found);
    found.checked += checked;
    found.violations.push(...violations);
  }
}
