import { join, relative, sep } from "node:path";
import { fuzzyFilter } from "@earendil-works/pi-tui";
import { firstEntries, isWithin } from "../../domain/kit/files.ts";
import { visibleText } from "../../domain/kit/text.ts";

const MOST_FILES = 10_000, MOST_FOLDERS = 4_000, MOST_NAMES = 40_000;
const FRESH_MS = 10_000;
const MOST_FOUND = 50;

const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["node_modules", "target", "dist", "build", "out", "coverage", "vendor", "venv", "__pycache__"],
]);

export class WorkspaceFiles {
  readonly #workspace: string;
  readonly #added: readonly string[];
  #read: { readonly at: number; readonly files: Promise<readonly string[]> } | null = null;

  constructor(workspace: string, added: readonly string[] = []) {
    this.#workspace = workspace;
    this.#added = added.filter((folder) => !isWithin(folder, workspace)).map((folder) =>
      `${relative(workspace, folder).replaceAll(sep, "/")}/`
    );
  }

  /** Paths are relative to the workspace, also in an added folder (`../lib/x.ts`). Folders end with a slash. */
  async like(query: string): Promise<readonly string[]> {
    const letters = query.toLowerCase();
    const ranks: readonly [string[], string[], string[], string[], string[]] = [[], [], [], [], []];
    for (const path of (await this.#list()).filter(isPlain)) ranks[rankOf(path.toLowerCase(), letters)].push(path);
    const [same, begin, part, contain, others] = ranks;
    const near = [same, begin, part, contain].flatMap((paths) => letters === "" ? paths : paths.toSorted(byLength));
    return [...near, ...fuzzyFilter(others, query, (path) => path)].slice(0, MOST_FOUND);
  }

  async #list(): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#read === null || now - this.#read.at > FRESH_MS) this.#read = { at: now, files: this.#walk() };
    return await this.#read.files;
  }

  async #walk(): Promise<readonly string[]> {
    const found: string[] = [];
    const folders = ["", ...this.#added];
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
      if (at === 0) found.push(...this.#added);
      if (found.length >= MOST_FILES) break;
    }
    return found.slice(0, MOST_FILES);
  }
}

function byLength(one: string, other: string): number {
  return one.length - other.length;
}

/** A name also matches without its ending, so that `pack` finds `pack.ts` before `package.json`. */
function rankOf(path: string, letters: string): 0 | 1 | 2 | 3 | 4 {
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
  if (name.replace(/\/$/, "") === letters || name.replace(/(?<=.)\.[^.]*$/, "") === letters) return 0;
  if (name.startsWith(letters)) return 1;
  return path.includes(`/${letters}`) || path.startsWith(letters) ? 2 : path.includes(letters) ? 3 : 4;
}

async function entriesOf(path: string): Promise<readonly Deno.DirEntry[]> {
  const { entries } = await firstEntries(path, { most: MOST_FILES }).catch(() => ({ entries: [] }));
  return [...entries].sort((one, other) => one.name < other.name ? -1 : 1);
}

export function isPlain(text: string): boolean {
  return !/[\t\n]/.test(text) && visibleText(text) === text;
}
