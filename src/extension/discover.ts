import { firstEntries } from "../domain/kit/files.ts";
import { join } from "node:path";

type ExtensionOrigin = "home" | "project" | "path";

export interface FoundFolder {
  readonly place: ExtensionOrigin;
  readonly path: string;
  readonly fault?: string;
}

interface DiscoverOptions {
  readonly home: string | null;
  readonly workspace: string;
  readonly paths?: readonly string[];
}

const MAX_FOLDERS = 100, MAX_NAMES = 1_000;

export async function discoverFolders(options: DiscoverOptions): Promise<readonly FoundFolder[]> {
  const { home, workspace, paths = [] } = options;
  const project = join(workspace, ".vis");
  const [own, theirs] = await Promise.all([
    home === null ? [] : foldersIn("home", join(home, "extensions")),
    project === home ? [] : foldersIn("project", join(project, "extensions")),
  ]);
  return [
    ...own,
    ...theirs,
    ...paths.map((path) => ({ place: "path" as const, path })),
  ];
}

async function foldersIn(place: ExtensionOrigin, folder: string): Promise<readonly FoundFolder[]> {
  const list = await firstEntries(folder, { most: MAX_NAMES }).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  });
  if (list === null) return [];
  const found = list.entries.filter(({ name, isFile }) => !isFile && !name.startsWith("."))
    .map(({ name }) => ({ place, path: join(folder, name) })).sort((a, b) => a.path < b.path ? -1 : 1);
  if (!list.hasMore && found.length <= MAX_FOLDERS) return found;
  const limit = list.hasMore ? `${MAX_NAMES} names` : `${MAX_FOLDERS} folders`;
  const fault = `${folder} has more than ${limit}, the limit, so Vis omits some extensions; remove some`;
  return [...found.slice(0, MAX_FOLDERS), { place, path: folder, fault }];
}

export interface Wants {
  readonly allow?: readonly string[] | null;
  readonly deny?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  /** If true, Vis also loads extensions that are off by default or by `enabled`, for an inspection. */
  readonly off?: boolean | undefined;
  readonly locked?: { readonly writable: boolean } | undefined;
}

interface Facts {
  readonly namespace: string;
  readonly onByDefault?: boolean | undefined;
  readonly isNamed?: boolean;
}

export function isWanted(name: string, facts: Facts, wants: Wants): boolean {
  return whyUnwanted(name, facts, wants) === null;
}

export function whyUnwanted(
  name: string,
  { namespace, onByDefault, isNamed = false }: Facts,
  wants: Wants,
): string | null {
  const { allow = null, deny = [], config = {}, off = false, locked } = wants;
  const isListed = (list: readonly string[]): boolean => list.includes(namespace) || list.includes(name);
  if (isListed(deny)) return "it is in extensions.deny";
  if (locked && onByDefault !== undefined) return "it is never in the locked profile";
  if (allow !== null && !isListed(allow)) return "it is not in extensions.allow";
  if (onByDefault === undefined) return null;
  const { enabled = onByDefault || allow !== null || isNamed } = Object(config[namespace]);
  return off || enabled === true ? null : "it is off";
}
