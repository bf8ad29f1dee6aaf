import { stuck } from "./stuck.ts";
import type { PolicyInput } from "./policy.ts";

/** Checks that the index lists the text, which is all that such a policy knows of it. */
export function needsContext({ variables }: PolicyInput["context"]): void {
  if (!variables.has("context")) throw stuck("<var_index> does not show the variable context");
}
