/** A repository that Vis overlooks would stay unprotected, so this file follows the rules of git. */
import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { Pace } from "../../domain/kit/concurrency.ts";
import { firstBytes, isWithin, plainFile } from "../../domain/kit/files.ts";
import { everyGitSetting } from "../../domain/kit/git_config.ts";
import { GitIndex, namedCommonFolder, namedGitFolder, namesTop } from "../../domain/kit/git_repository.ts";
import type { GrantedPath } from "../../sandbox/confine/access.ts";
import { entryKind, realPathOf } from "../_paths.ts";
import { keptStampOf, stampOf } from "../folder_entries.ts";

export const GIT = ".git";
const HEAD_BYTES = 40;

export interface RepositoryFolders extends Readonly<Record<"gitDir" | "commonDir", string>> {
  readonly named: readonly string[];
}

/** A bare repository is its own top. */
export async function repositoryFolders(top: string): Promise<RepositoryFolders | null> {
  const found = await namedGitFolder(top);
  const isThere = found !== null && entryKind(`${found}/HEAD`) !== null;
  const named = isThere ? found : isBare(top) ? top : null, gitDir = named === null ? null : realPathOf(named);
  if (named === null || gitDir === null) return null;
  const common = await namedCommonFolder(gitDir);
  return { gitDir, commonDir: realPathOf(common) ?? resolve(common), named: [named, common] };
}

/** `HEAD` may be a link to a missing file. */
export function isBare(folder: string, kindOf = entryKind): boolean {
  const kind = (name: string) => kindOf(join(folder, name));
  const isThere = (name: string): boolean => existsSync(join(folder, name)) && kind(name) !== null;
  const isElsewhere = isThere("commondir") && kind("commondir") !== "folder";
  const isHead = kind("HEAD") === "file" || kind("HEAD") === "link";
  return isHead && (isElsewhere || isThere("objects") && isThere("refs")) && !hasRepository(folder);
}

/** These folders of a call may contain repositories. A repository's own folder does not count, because a command that
 * may change this folder may change all of it. */
export function foldersBeside(
  root: string,
  write: readonly GrantedPath[],
  kindOf = entryKind,
): readonly string[] {
  return write.flatMap(({ path, folder }) =>
    folder && !isWithin(path, root) && !path.split("/").includes(GIT) && !isBare(path, kindOf) ? [path] : []
  );
}

/** Returns whether git stops at `.git` of a folder, without a look at the folder itself. Git stops at a file, and at a
 * folder that it takes for a repository. */
export function hasRepository(folder: string): boolean {
  const dot = join(folder, GIT);
  if (entryKind(dot) !== "folder") return entryKind(dot) === "file";
  if (entryKind(join(dot, "HEAD")) !== "file") return false;
  if (["objects", "refs"].some((name) => entryKind(join(dot, name)) !== "folder")) return false;
  const head = firstBytes(join(dot, "HEAD"), HEAD_BYTES);
  return head !== null && /^(?:ref: refs\/|[0-9a-f]{40})/.test(new TextDecoder().decode(head));
}

/** Returns null unless the repository of a worktree or submodule is outside the workspace and names the workspace. */
export async function outsideRepository(workspace: string): Promise<string | null> {
  const { gitDir = "", commonDir = "" } = await repositoryFolders(workspace) ?? {};
  if (gitDir === "" || isWithin(gitDir, workspace) || entryKind(join(commonDir, "objects")) !== "folder") return null;
  return await namesTop({ top: workspace, gitDir, commonDir }) ? commonDir : null;
}

export async function ownSettings(
  { gitDir, commonDir }: RepositoryFolders,
  home: string,
): Promise<{ readonly files: readonly string[] } & Awaited<ReturnType<typeof everyGitSetting>>> {
  const names = [join(commonDir, "config"), join(commonDir, "config.worktree"), join(gitDir, "config.worktree")];
  const files = [...new Set(names)];
  return { files, ...await everyGitSetting(files, home) };
}

const MOST_INDEXES = 64, MOST_INDEX_BYTES = 64 << 20, MOST_SUBMODULES = 2_000;
const AT_ONCE = 2_000;

interface IndexFacts {
  readonly submodules: ReadonlySet<string>;
  readonly hashes: ReadonlyMap<string, Buffer>;
}

export class GitIndexes {
  readonly #known = new BoundedMap<string, IndexFacts & { readonly stamp: string | null; readonly names: string }>(
    MOST_INDEXES,
  );

  async read(
    path: string,
    { sha256, files = [] }: { readonly sha256: boolean; readonly files?: readonly string[] },
  ): Promise<IndexFacts> {
    const stamp = keptStampOf(path), names = files.join("\0");
    const known = this.#known.get(path);
    if (stamp !== null && known?.stamp === stamp && known.names === names) return known;
    const submodules = new Set<string>(), hashes = new Map<string, Buffer>(), wanted = new Set(files);
    const pace = new Pace();
    const add = async (index: GitIndex): Promise<string | null> => {
      let count = 0;
      for (const entry of index.entries()) {
        if (++count % AT_ONCE === 0 && pace.due) await pace.rest();
        if (entry.isSubmodule) {
          if (submodules.size < MOST_SUBMODULES) submodules.add(entry.name);
        } else if (wanted.size > 0 && wanted.has(entry.name)) hashes.set(entry.name, Buffer.from(entry.hash));
      }
      return index.shared;
    };
    const shared = await add(await indexAt(path, sha256));
    wanted.clear(); // A file of a split index may have changed or disappeared by now, so it counts as not tracked.
    if (shared !== null) await add(await indexAt(join(dirname(path), shared), sha256));
    const facts = { submodules, hashes, stamp, names };
    this.#known.set(path, facts);
    return facts;
  }
}

async function indexAt(path: string, sha256: boolean): Promise<GitIndex> {
  const size = Number(stampOf(path).split(",", 1)[0]);
  if (size > MOST_INDEX_BYTES) {
    throw new Error(
      `Cannot run commands: the index ${path} has ${size} bytes, more than the limit of ${MOST_INDEX_BYTES}; ` +
        "start Vis outside this repository",
    );
  }
  const bytes = size > 0 ? await plainFile(path, { most: MOST_INDEX_BYTES }).catch(() => null) : null;
  return new GitIndex(bytes ?? new Uint8Array(), { sha256 });
}
