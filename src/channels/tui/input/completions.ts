import {
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  CombinedAutocompleteProvider,
} from "@earendil-works/pi-tui";
import { isPlain, WorkspaceFiles } from "../workspace_files.ts";
import type { PaletteCommand } from "../panels/palette.ts";
import type { Session } from "../../channel.ts";

const AT = /(^|[\s(])@(?=[^\s@]*$|"[^"]*$)/;
const SEARCHED = /(?:^|[\s(])(@"?([^\s@"]*))$/;

export function completions(
  commands: readonly PaletteCommand[],
  { workspace, readFolders = [] }: Pick<Session, "workspace" | "readFolders">,
  fresh: () => Promise<readonly PaletteCommand[]> = () => Promise.resolve(commands),
): AutocompleteProvider {
  const providerOf = (some: readonly PaletteCommand[]): CombinedAutocompleteProvider =>
    new CombinedAutocompleteProvider(some.map(({ name, detail }) => ({ name, description: detail })), workspace);
  let both = providerOf(commands), known = commands;
  const files = new WorkspaceFiles(workspace, readFolders);
  return {
    getSuggestions: async (lines, row, column, options) => {
      const before = (lines[row] ?? "").slice(0, column);
      if (!options.force && /\s$/.test(before)) return null; // A space ends the word, and Enter sends the text.
      const searched = options.force ? null : SEARCHED.exec(before);
      if (searched) return await filesLike(searched, files);
      const asPath = lines.map((line, at) =>
        at === row && options.force ? line.slice(0, column).replace(AT, "$1 ") + line.slice(column) : line
      );
      // A late list would take the Enter of a complete command, so only a single slash waits for the files.
      if (lines.length === 1 && lines[0] === "/") {
        const now = await fresh().catch(() => known);
        if (now !== known) [both, known] = [providerOf(now), now];
        if (options.signal.aborted) return null;
      }
      const found = await both.getSuggestions(asPath, row, column, options);
      if (found === null) return null;
      // Enter takes the first item, so a word of another program must not find a command that only looks like the word.
      const isCommand = found.prefix.startsWith("/") && (lines[row] ?? "").startsWith(found.prefix) && !options.force;
      const begin = isCommand ? found.prefix.slice(1).toLowerCase() : "";
      const items = found.items.filter(({ value, label }) => isPlain(value + label) && value.startsWith(begin));
      return items.length === 0 ? null : { ...found, items };
    },
    applyCompletion: (...given) => both.applyCompletion(...given),
    shouldTriggerFileCompletion: (...given) => both.shouldTriggerFileCompletion(...given),
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
  const isComplete = items.every(({ value }) => value === prefix); // Enter sends the text.
  return isComplete ? null : { items, prefix };
}
