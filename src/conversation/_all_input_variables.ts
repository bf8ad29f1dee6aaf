import { type InputVariable, readInputVariables, repeatInputVariables } from "../environment/input_variables.ts";
import type { Store } from "../persistence/store/store.ts";
import type { AskOptions } from "./send_options.ts";

/** The variables that a query begins with; those from another run of it come first. Throws `UsageError` for values that
 * cannot be read. */
export async function allInputVariables(
  { given = [], context, variables }: Pick<AskOptions, "given" | "context" | "variables">,
  store: Store,
): Promise<readonly InputVariable[]> {
  const sources = Object.entries({ ...(context && { context }), ...variables });
  return await Promise.all([
    ...given.map((image) => repeatInputVariables(image, store)),
    ...sources.map(([name, source]) => readInputVariables(name, { source, store })),
  ]);
}
