import { stuck } from "./stuck.ts";
import type { PolicyInput } from "./policy.ts";

/** Such a policy knows of its text what the index shows: that it is there. */
export function needsContext({ variables }: PolicyInput["context"]): void {
  if (!variables.has("context")) throw stuck("<var_index> does not show the variable context");
}
