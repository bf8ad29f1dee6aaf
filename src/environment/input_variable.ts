import type { VariableImage } from "../domain/query/variable.ts";

/** An input variable of a query, with its description for the model. */
export interface InputVariable {
  readonly image: VariableImage;
  readonly text: string;
}
