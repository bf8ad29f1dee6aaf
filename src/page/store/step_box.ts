import { signal } from "@preact/signals";
import type { Iteration } from "./api_types.ts";

/** Steps in a box. */
export const BOX_STEPS = 20;

/** Some steps of a query, fetched when they come near the viewport. Until then they are a box of their height. */
export class StepBox {
  readonly items = signal<readonly Iteration[] | null>(null);
  readonly fault = signal("");
  readonly height;
  #filling: Promise<void> | null = null;
  readonly #load: (after: number, limit: number) => Promise<readonly Iteration[]>;

  /** `from` is the number of steps before it; `load` returns the stored iterations after a number. */
  constructor(
    readonly from: number,
    { height, load }: {
      readonly height: number;
      readonly load: (after: number, limit: number) => Promise<readonly Iteration[]>;
    },
  ) {
    this.height = signal(height);
    this.#load = load;
  }

  async fill(): Promise<void> {
    await (this.#filling ??= this.#fetch());
  }

  /** Forgets the steps, which were drawn `height` pixels high. */
  leave(height: number): void {
    if (this.#filling === null) return;
    this.#filling = null;
    this.height.value = height;
    this.items.value = null;
    this.fault.value = "";
  }

  async #fetch(): Promise<void> {
    try {
      const items = await this.#load(this.from, BOX_STEPS);
      if (this.#filling !== null) this.items.value = items; // otherwise it went out of view meanwhile
    } catch (error) {
      this.#filling = null;
      this.fault.value = error instanceof Error ? error.message : String(error);
    }
  }
}
