export interface Invariant {
  readonly what: string;
  /** How often it was looked at. */
  readonly checked: number;
  /** Where it did not hold. */
  readonly violations: readonly string[];
}

/** What has to hold, how often that was looked at, and where it did not. */
export class Invariants {
  readonly #all = new Map<string, { checked: number; readonly violations: string[] }>();

  get all(): readonly Invariant[] {
    return [...this.#all].map(([what, found]) => ({ what, ...found }));
  }

  /** Looks at one case. */
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
