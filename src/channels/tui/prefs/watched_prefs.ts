import type { Prefs, PrefsKeeper } from "./prefs.ts";

/** Notifies of each change of the settings. */
export class WatchedPrefs implements PrefsKeeper {
  readonly #keeper: PrefsKeeper;
  readonly #changed: (before: Prefs) => void;

  constructor(keeper: PrefsKeeper, changed: (before: Prefs) => void) {
    this.#keeper = keeper;
    this.#changed = changed;
  }

  get(): Prefs {
    return this.#keeper.get();
  }

  async set(change: Partial<Prefs>): Promise<void> {
    const before = this.#keeper.get();
    const kept = this.#keeper.set(change);
    this.#changed(before);
    await kept;
  }
}
