import { captured } from "../intrinsics/captured.ts";

/** Names that Vis adds to the realm. A block may overwrite them while it runs; afterwards they are restored. */
export class InjectedNames {
  readonly #values: Record<string, unknown> = Object.create(null);

  /** Adds a name to the realm, or sets its value. */
  set(name: string, value: unknown): void {
    this.#values[name] = value;
    define(name, value);
  }

  /** Restores what was overwritten or deleted. Reports what it restored, and once what a block made permanent. */
  restore(on: { readonly restored: (name: string) => void; readonly fixed: (name: string) => void }): void {
    for (const name in this.#values) {
      const value = this.#values[name];
      const now = captured.getOwnPropertyDescriptor(globalThis, name);
      if (now && "value" in now && now.value === value && now.writable) continue;
      if (define(name, value)) on.restored(name);
      else {
        delete this.#values[name];
        on.fixed(name);
      }
    }
  }
}

function define(name: string, value: unknown): boolean {
  try {
    captured.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
    return true;
  } catch {
    return false; // a block made it permanent
  }
}
