import { captured } from "../intrinsics/captured.ts";

/** Names that the realm has from us. A block may overwrite them while it runs; afterwards they are as before. */
export class InjectedNames {
  readonly #values: Record<string, unknown> = Object.create(null);

  has(name: string): boolean {
    return name in this.#values;
  }

  /** Gives the realm a name, or a new value for it. */
  set(name: string, value: unknown): void {
    this.#values[name] = value;
    define(name, value);
  }

  /** Puts back what was overwritten or deleted; says what it put back, and once what a block made permanent. */
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
