import type { VariableImage } from "../domain/variable.ts";
import type { RunReport } from "../sandbox/sandbox.ts";
import type { VariableIndex } from "./variable_index.ts";

export interface Restored {
  readonly image: VariableImage;
  /** Not the newest version. */
  readonly older: boolean;
}

/** What left the scope and what came back since the last stored iteration. It is stored with that iteration, in the same
 * transaction: an iteration that is cut has changed no scope. */
export class ScopeChanges {
  readonly #index: VariableIndex;
  readonly #forgotten = new Set<string>();
  readonly #live = new Set<string>();
  /** What the running block brought back, and whether it was out of scope before. */
  readonly #restored = new Map<string, Restored & { readonly forgotten: boolean }>();

  constructor(index: VariableIndex) {
    this.#index = index;
  }

  get forgotten(): ReadonlySet<string> {
    return this.#forgotten;
  }

  get live(): ReadonlySet<string> {
    return this.#live;
  }

  forget(name: string): void {
    this.#restored.delete(name);
    this.#live.delete(name);
    this.#forgotten.add(name);
    this.#index.setScope(name, "forgotten");
  }

  /** A block has made a version of it. */
  defined(name: string): void {
    this.#forgotten.delete(name);
  }

  /** The running block has made a version current again. */
  restore(name: string, restored: Restored): void {
    this.#restored.set(name, { ...restored, forgotten: this.#index.get(name)?.scope === "forgotten" });
    this.#index.setScope(name, "live");
  }

  /** What the block that has ended brought back and did not change. Where its child ended under it, nothing. */
  takeRestored({ saved, result }: RunReport): readonly Restored[] {
    const killed = result.outcome === "killed" || result.outcome === "memory";
    const again: Restored[] = [];
    for (const [name, restored] of this.#restored) {
      if (killed) {
        if (restored.forgotten) this.#index.setScope(name, "forgotten");
        continue;
      }
      this.#forgotten.delete(name);
      this.#live.add(name);
      if (!saved.some((image) => image.name === name)) again.push(restored);
    }
    this.#restored.clear();
    return again;
  }

  stored(): void {
    this.#forgotten.clear();
    this.#live.clear();
  }
}
