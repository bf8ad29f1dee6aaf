import { type AutocompleteProvider, CombinedAutocompleteProvider } from "@earendil-works/pi-tui";
import type { Command } from "./command.ts";

/** Names behind a slash, and paths of the workspace at Tab. */
export function completions(commands: readonly Command[], workspace: string): AutocompleteProvider {
  const slash = commands.map(({ name, detail }) => ({ name, description: detail }));
  return new CombinedAutocompleteProvider(slash, workspace);
}
