import type { VariableImage } from "../../domain/query/variable.ts";
import type { InputVariable } from "./input_variable.ts";

/** What a query is given: stored with the row of its next iteration, told of in each of its calls. */
export class InputVariables {
  #unstored: readonly InputVariable[] = [];
  #texts: readonly string[] = [];

  /** What no iteration has stored yet. */
  get unstored(): readonly InputVariable[] {
    return this.#unstored;
  }

  get images(): readonly VariableImage[] {
    return this.#unstored.map(({ image }) => image);
  }

  /** What the running query is told of them. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  begin(given: readonly InputVariable[]): void {
    // A query that was cut before its first row has left some.
    this.#unstored = [...this.#unstored.filter((one) => !given.includes(one)), ...given];
    this.#texts = given.map(({ text }) => text);
  }

  /** One that the query is not told of by itself. */
  add(given: InputVariable): void {
    this.#unstored = [...this.#unstored, given];
  }

  stored(): void {
    this.#unstored = [];
  }

  /** The query has ended. What is not stored is there for the next one. */
  end(): void {
    this.#texts = [];
  }
}
