import type { VariableImage } from "../../domain/query/variable.ts";

/** A variable that a query is given, and what the model is told of it. */
export interface InputVariable {
  readonly image: VariableImage;
  readonly text: string;
}
