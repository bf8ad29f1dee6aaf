import { existsSync } from "node:fs";
import { dirname, join, parse, relative, resolve, sep } from "node:path";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import type { ObeyedPath } from "../extension/environment_keys.ts";
import {
  entryKind,
  IN_GIT,
  isFile,
  MOST_HOOKS,
  namedBySettings,
  realPathOf,
  repositoryFolders,
  stampOf,
  submodules,
  VIS_DEPTH,
} from "./_fixed_paths.ts";
import { folderEntries } from "./folders.ts";
import { holds } from "./_wall_paths.ts";

const MOST_KNOWN = 500, MOST_LINKS = 40;

/** Says which paths git runs or reads by a setting, or git or Vis by a link. What a folder leads to is found again only
 * once a file, folder or link on the way to it has changed. */
export class ObeyedPaths {
  readonly #home: string;
  readonly #known = new BoundedMap<string, Obeyed>(MOST_KNOWN);

  constructor(home: string | null) {
    this.#home = home ?? "/";
  }

  /** Of paths relative to the workspace, without links: those that are obeyed by the workspace's `.vis`, or by the
   * repositories around them and their submodules. */
  async of(workspace: string, paths: readonly string[]): Promise<readonly ObeyedPath[]> {
    const sources = [await this.#at(join(workspace, ".vis"))];
    for (const folder of foldersAround(workspace, paths)) {
      const git = join(folder, ".git");
      if (!existsSync(git)) continue;
      const own = await this.#at(git);
      sources.push(own);
      for (const top of own.submodules) sources.push(await this.#at(join(top, ".git")));
    }
    return paths.flatMap((path) => {
      const [reason] = sources.flatMap((one) => one.reasonOf(join(workspace, path)) ?? []);
      return reason === undefined ? [] : [{ path, reason }];
    });
  }

  /** By a `.vis` or `.git`. */
  async #at(path: string): Promise<Obeyed> {
    const known = this.#known.get(path);
    if (known?.isCurrent()) return known;
    const found = new Obeyed(dirname(path));
    if (path.endsWith(".vis")) found.links(path, { depth: VIS_DEPTH, by: "Vis reads" });
    else await addRepository(found, this.#home);
    this.#known.set(path, found);
    return found;
  }
}

function foldersAround(workspace: string, paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(join(workspace, path)); !folders.has(at); at = dirname(at)) folders.add(at);
  }
  return folders;
}

async function addRepository(found: Obeyed, home: string): Promise<void> {
  const { top } = found;
  found.stamp(join(top, ".git"));
  const folders = await repositoryFolders(top);
  if (folders === null) return;
  const { gitDir, commonDir } = folders;
  for (const folder of new Set([gitDir, commonDir])) {
    for (const path of [folder, join(folder, "HEAD"), join(folder, "commondir")]) found.stamp(path);
    for (const name of IN_GIT) {
      const path = join(folder, name);
      if (entryKind(path) === "link") found.link(path, name === "hooks" ? "git runs" : "git reads");
    }
    found.links(join(folder, "hooks"), { depth: 1, by: "git runs" });
  }
  found.stamp(join(commonDir, "modules"));
  found.submodules = await submodules(join(commonDir, "modules"));
  const { named, files } = await namedBySettings({ top, gitDir, commonDir, home });
  for (const path of files) found.stamp(path);
  for (const { path, as, setting, runs } of named) {
    // A word is a path if there is such a file, or if a program is wanted there.
    if (as === "word" && !runs && !isFile(path)) continue;
    found.add(path, { reason: `git ${runs ? "runs" : "reads"} by the setting ${setting}`, isFolder: as === "hooks" });
    if (as === "hooks") found.links(path, { depth: 1, by: "git runs" });
  }
}

/** Everything that one `.vis` or `.git` leads to, and all that this depends on. */
class Obeyed {
  readonly top: string;
  /** The folders that submodules are checked out in. */
  submodules: readonly string[] = [];
  /** Files and folders by path, with their stamps. */
  readonly #stamps = new Map<string, string>();
  /** What is at each part of the ways to the paths. */
  readonly #ways = new Map<string, string>();
  /** Reasons by plain paths. */
  readonly #entries = new Map<string, string>();
  readonly #folders = new Map<string, string>();

  constructor(top: string) {
    this.top = top;
  }

  isCurrent(): boolean {
    for (const [path, stamp] of this.#stamps) if (stampOf(path) !== stamp) return false;
    for (const [path, entry] of this.#ways) if (entryAt(path) !== entry) return false;
    return true;
  }

  /** Why a path, which is not a folder, is obeyed; null if it is not. */
  reasonOf(path: string): string | null {
    const plain = plainPath(path);
    const reason = this.#entries.get(plain);
    if (reason !== undefined) return reason;
    for (const [folder, reason] of this.#folders) if (holds(folder, plain)) return reason;
    return null;
  }

  stamp(path: string): void {
    this.#stamps.set(path, stampOf(path));
  }

  /** Adds a path with every link on the way to it. */
  add(path: string, { reason, isFolder }: { readonly reason: string; readonly isFolder: boolean }): void {
    const { root } = parse(path);
    let at = holds(this.top, path) ? this.top : root;
    const rest = relative(at, path).split(sep);
    for (let links = 0, name = rest.shift(); name !== undefined; name = rest.shift()) {
      const next = join(at, name);
      const entry = entryAt(next);
      this.#ways.set(next, entry);
      if (!this.#entries.has(plainPath(next))) this.#entries.set(plainPath(next), reason);
      if (!entry.startsWith("link ")) {
        at = next;
        continue;
      }
      if (++links > MOST_LINKS) return;
      rest.unshift(...relative(root, resolve(at, entry.slice("link ".length))).split(sep));
      at = root;
    }
    const end = plainPath(at);
    if (isFolder && !this.#folders.has(end)) this.#folders.set(end, reason);
  }

  /** Adds where a link leads. */
  link(path: string, by: string): void {
    this.add(path, { reason: `${by} by the link ${relative(this.top, path)}`, isFolder: true });
  }

  /** Adds where links in a folder lead. */
  links(folder: string, { depth, by }: { readonly depth: number; readonly by: string }): void {
    this.stamp(folder);
    const real = realPathOf(folder) ?? folder;
    for (const { name, isFolder } of folderEntries(real, { most: MOST_HOOKS, wanted: () => true })) {
      const path = join(real, name);
      if (isFolder && depth > 1) this.links(path, { depth: depth - 1, by });
      else if (!isFolder && entryKind(path) === "link") this.link(path, by);
    }
  }
}

/** What is at a path, as far as the way through it depends on that. */
function entryAt(path: string): string {
  const kind = entryKind(path);
  try {
    return kind === "link" ? `link ${Deno.readLinkSync(path)}` : kind ?? "";
  } catch {
    return ""; // it is gone
  }
}

/** Without the differences that some file systems ignore. */
function plainPath(path: string): string {
  return path.normalize("NFKC").toLowerCase();
}
