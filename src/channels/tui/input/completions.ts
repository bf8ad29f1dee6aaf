import { join } from "node:path";
import {
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  CombinedAutocompleteProvider,
  fuzzyFilter,
} from "@earendil-works/pi-tui";
import { firstEntries } from "../../../domain/kit/files.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import type { PaletteCommand } from "../panels/palette.ts";

const AT = /(^|[\s(])@(?=[^\s@]*$|"[^"]*$)/;
const SEARCHED = /(?:^|[\s(])(@"?([^\s@"]*))$/;
const MOST_FOUND = 50;

/** Completes names after a slash, files after an `@` by any letters of their path, and paths of the workspace on Tab.
 * Files whose names contain line breaks or terminal control characters are left out. */
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
  const plain = (await files.list()).filter(isPlain);
  const found = fuzzyFilter(plain, query, (path) => path).slice(0, MOST_FOUND);
  const items = found.map((path) => ({
    value: /[\s"'\\]/.test(path) ? `@${JSON.stringify(path)}` : `@${path}`,
    label: path,
  }));
  return items.length === 0 ? null : { items, prefix };
}

function isPlain(text: string): boolean {
  return !/[\t\n]/.test(text) && visibleText(text) === text;
}

const MOST_FILES = 10_000, MOST_FOLDERS = 4_000, MOST_NAMES = 40_000;
const FRESH_MS = 10_000;

/** Folders of tools and results, which nobody names in a request. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["node_modules", "target", "dist", "build", "out", "coverage", "vendor", "venv", "__pycache__"],
]);

/** The files of a workspace for completion, nearest to its root first. Hidden folders, those of tools, and links are
 * left out. Reading stops at a limit, and what was read is kept for a few seconds. */
class WorkspaceFiles {
  readonly #workspace: string;
  #read: { readonly at: number; readonly files: Promise<readonly string[]> } | null = null;

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** Paths relative to the workspace; folders end with a slash. */
  async list(): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#read === null || now - this.#read.at > FRESH_MS) this.#read = { at: now, files: this.#walk() };
    return await this.#read.files;
  }

  async #walk(): Promise<readonly string[]> {
    const found: string[] = [];
    const folders = [""];
    let names = 0;
    for (let at = 0; at < Math.min(folders.length, MOST_FOLDERS) && names < MOST_NAMES; at++) {
      const folder = folders[at] ?? "";
      const entries = await entriesOf(join(this.#workspace, folder));
      names += entries.length;
      for (const { name, isFile, isDirectory } of entries) {
        if (isFile) found.push(`${folder}${name}`);
        if (!isDirectory || name.startsWith(".") || LEFT_OUT.has(name)) continue;
        found.push(`${folder}${name}/`);
        folders.push(`${folder}${name}/`);
      }
      if (found.length >= MOST_FILES) break;
    }
    return found.slice(0, MOST_FILES);
  }
}

/** In the order of their names; the first ones that the system gives; none if the folder cannot be read. */
async function entriesOf(path: string): Promise<readonly Deno.DirEntry[]> {
  const { entries } = await firstEntries(path, { most: MOST_FILES }).catch(() => ({ entries: [] }));
  return [...entries].sort((one, other) => one.name < other.name ? -1 : 1);
}
