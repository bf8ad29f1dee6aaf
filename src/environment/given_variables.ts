import type { VariableImage } from "../domain/query/variable.ts";
import type { InputVariable } from "./input_variable.ts";

/** Input variables of a query: stored with the row of its next iteration, described in each of its model calls. */
export class InputVariables {
  #unstored: readonly InputVariable[] = [];
  #texts: readonly string[] = [];

  /** Those that no iteration has stored yet. */
  get unstored(): readonly InputVariable[] {
    return this.#unstored;
  }

  get images(): readonly VariableImage[] {
    return this.#unstored.map(({ image }) => image);
  }

  /** The descriptions for the running query. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  begin(given: readonly InputVariable[]): void {
    // A query that was cut before its first row may have left some.
    this.#unstored = [...this.#unstored.filter((one) => !given.includes(one)), ...given];
    this.#texts = given.map(({ text }) => text);
  }

  /** Those of a query that another process began, which has stored them. */
  describe(given: readonly InputVariable[]): void {
    this.#texts = given.map(({ text }) => text);
  }

  /** Adds one that is not described to the running query automatically. */
  add(given: InputVariable): void {
    this.#unstored = [...this.#unstored, given];
  }

  stored(): void {
    this.#unstored = [];
  }

  /** Called when the query has ended. What is not stored is kept for the next one. */
  end(): void {
    this.#texts = [];
  }
}
