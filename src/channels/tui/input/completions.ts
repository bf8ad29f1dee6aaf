import { type AutocompleteProvider, CombinedAutocompleteProvider } from "@earendil-works/pi-tui";
import { visibleText } from "../../../domain/text/visible_text.ts";
import type { PaletteCommand } from "./command.ts";

const AT = /(^|[\s(])@(?=[^\s@]*$|"[^"]*$)/;

/** Completes names after a slash, and paths of the workspace on Tab, including images after an `@`. Files whose names
 * contain terminal control characters are left out. */
export function completions(commands: readonly PaletteCommand[], workspace: string): AutocompleteProvider {
  const slash = commands.map(({ name, detail }) => ({ name, description: detail }));
  const both = new CombinedAutocompleteProvider(slash, workspace);
  return {
    getSuggestions: async (lines, row, column, options) => {
      const asPath = lines.map((line, at) =>
        at === row && options.force ? line.slice(0, column).replace(AT, "$1 ") + line.slice(column) : line
      );
      const found = await both.getSuggestions(asPath, row, column, options);
      if (found === null) return null;
      const items = found.items.filter(({ value, label }) => visibleText(value + label) === value + label);
      return items.length === 0 ? null : { ...found, items };
    },
    applyCompletion: both.applyCompletion.bind(both),
    shouldTriggerFileCompletion: both.shouldTriggerFileCompletion.bind(both),
  };
}
