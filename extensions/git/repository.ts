import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { advised, commonFolderOf, gitFolderOf, isWithin, namesTop } from "@vis/extension";

export interface Repository {
  readonly workspace: string;
  readonly gitDir: string;
  /** For a worktree, the folder of the repository that it belongs to; else `gitDir`. */
  readonly commonDir: string;
}

/** Returns null without a repository. Another program may have written `.git`, so rejects with Error for a link and for
 * the repository of another folder. */
export async function findRepository(workspace: string): Promise<Repository | null> {
  const dot = join(workspace, ".git");
  const info = await Deno.lstat(dot).catch(() => null);
  if (info === null) return null;
  if (info.isSymlink) {
    throw advised(
      new Error("Cannot use git: .git of the workspace is a link"),
      "ask the user to start Vis in the repository itself",
    );
  }
  const gitDir = await gitFolderOf(workspace);
  if (gitDir === null || !await isGitDir(gitDir)) return null;
  const commonDir = await commonFolderOf(gitDir);
  const outside = [gitDir, commonDir].find((folder) => !isWithin(folder, workspace));
  if (outside !== undefined && !await namesTop({ top: workspace, gitDir, commonDir })) {
    throw advised(
      new Error(`Cannot use git: .git points to ${outside}, which does not name this folder as its worktree`),
      "ask the user to repair .git",
    );
  }
  return { workspace, gitDir, commonDir };
}

/** An empty `.git` folder, such as Vis makes while a command runs, does not count. */
export function closestRepository(workspace: string): string | null {
  for (let at = workspace;; at = dirname(at)) {
    const dot = join(at, ".git"), info = lstatSync(dot, { throwIfNoEntry: false });
    if (info !== undefined && !(info.isDirectory() && isEmpty(dot))) return at;
    if (at === dirname(at)) return null;
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

async function isGitDir(path: string): Promise<boolean> {
  return await Deno.lstat(join(path, "HEAD")).then(() => true, () => false);
}
