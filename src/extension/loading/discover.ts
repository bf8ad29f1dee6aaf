import { join } from "node:path";

export type ExtensionOrigin = "home" | "project" | "path";

/** A folder that may hold extensions. */
export interface FoundFolder {
  readonly place: ExtensionOrigin;
  readonly path: string;
}

export interface DiscoverOptions {
  readonly home: string | null;
  /** Real path. */
  readonly workspace: string;
  /** Folders that the user named for this run. */
  readonly paths?: readonly string[];
}

/** Per place: all of them are read at every start. */
const MAX_FOLDERS = 100;

/** Finds folders in search order: the user's, the project's, then those that were named. Does not read their contents. */
export async function discoverFolders(options: DiscoverOptions): Promise<readonly FoundFolder[]> {
  const { home, workspace, paths = [] } = options;
  const project = join(workspace, ".vis");
  const [own, theirs] = await Promise.all([
    home === null ? [] : foldersIn(join(home, "extensions")),
    project === home ? [] : foldersIn(join(project, "extensions")),
  ]);
  return [
    ...own.map((path) => ({ place: "home" as const, path })),
    ...theirs.map((path) => ({ place: "project" as const, path })),
    ...paths.map((path) => ({ place: "path" as const, path })),
  ];
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (!isFile && !name.startsWith(".")) found.push(join(folder, name));
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
  return found.sort().slice(0, MAX_FOLDERS);
}
