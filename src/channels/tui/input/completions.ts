import {
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  CombinedAutocompleteProvider,
} from "@earendil-works/pi-tui";
import { isPlain, WorkspaceFiles } from "../workspace_files.ts";
import type { PaletteCommand } from "../panels/palette.ts";

const AT = /(^|[\s(])@(?=[^\s@]*$|"[^"]*$)/;
const SEARCHED = /(?:^|[\s(])(@"?([^\s@"]*))$/;

/** Files whose names contain line breaks or terminal control characters are skipped. */
export function completions(commands: readonly PaletteCommand[], workspace: string): AutocompleteProvider {
  const slash = commands.map(({ name, detail }) => ({ name, description: detail }));
  const both = new CombinedAutocompleteProvider(slash, workspace);
  const files = new WorkspaceFiles(workspace);
  return {
    getSuggestions: async (lines, row, column, options) => {
      const searched = options.force ? null : SEARCHED.exec((lines[row] ?? "").slice(0, column));
      if (searched) return await filesLike(searched, files);
      const asPath = lines.map((line, at) =>
        at === row && options.force ? line.slice(0, column).replace(AT, "$1 ") + line.slice(column) : line
      );
      const found = await both.getSuggestions(asPath, row, column, options);
      if (found === null) return null;
      const items = found.items.filter(({ value, label }) => isPlain(value + label));
      return items.length === 0 ? null : { ...found, items };
    },
    applyCompletion: both.applyCompletion.bind(both),
    shouldTriggerFileCompletion: both.shouldTriggerFileCompletion.bind(both),
  };
}

async function filesLike(
  [, prefix = "", query = ""]: readonly string[],
  files: WorkspaceFiles,
): Promise<AutocompleteSuggestions | null> {
  const items = (await files.like(query)).map((path) => ({
    value: /[\s"'\\]/.test(path) ? `@${JSON.stringify(path)}` : `@${path}`,
    label: path,
  }));
  return items.length === 0 ? null : { items, prefix };
}
