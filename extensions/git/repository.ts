import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import {
  advised,
  commonFolderOf,
  type EnvironmentView,
  gitFolderOf,
  isBelow,
  isOwnRepository,
  isWithin,
  namesTop,
  repositoriesBelow,
} from "@vis/extension";

export const MOST_SCOPE = 300;

interface GitView extends EnvironmentView {
  readonly repository?: string;
}

export function topOf({ repository, root, workspace }: GitView): string {
  return repository ?? root ?? workspace;
}

const START_ABOVE = "ask the user to start Vis in a folder that contains both folders, and pass {repo: …} there";

/** Rejects with Error unless `repo` names a folder below the workspace, without links, that has a repository of its
 * own. */
export async function inRepository(env: EnvironmentView, repo: string): Promise<GitView> {
  const { workspace, approve } = env, top = resolve(workspace, repo);
  if (top === topOf(env)) return env;
  const isReal = isBelow(top, workspace) && await Deno.realPath(top).catch(() => null) === top;
  if (!isReal || !await isOwnRepository(top)) {
    const cause = !isBelow(top, workspace)
      ? "it is not below the workspace"
      : !isReal
      ? "it is missing, or its path has a link"
      : "it has no .git folder with a repository";
    const other = isBelow(top, workspace) ? "" : `, or ${START_ABOVE}`;
    const advice = `${await adviceBelow(workspace) ?? "omit repo"}${other}`;
    throw advised(new Error(`Cannot use git in ${repo}: ${cause}`), advice);
  }
  const name = relative(workspace, top).replaceAll("\\", "/"), added = `, in ${name}`;
  const own: Partial<GitView> = {
    repository: top,
    ...(approve && {
      approve: ({ what, scope, ...rest }, options) => {
        const whole = `${scope}${added}`, isLong = whole.length > MOST_SCOPE;
        const lasts = isLong ? { scope: "this call", lasting: false } : { scope: whole };
        return approve({ ...rest, ...lasts, what: `${what}${added}` }, options);
      },
    }),
  };
  return Object.create(env, Object.getOwnPropertyDescriptors(own));
}

export async function adviceBelow(workspace: string): Promise<string | null> {
  const found = await repositoriesBelow(workspace);
  return found.length === 0 ? null : `pass {repo: ${found.map((one) => JSON.stringify(one)).join(" or ")}}`;
}

export interface Repository {
  readonly workspace: string;
  readonly gitDir: string;
  /** In a linked worktree, this is the `.git` folder of its repository, and else `gitDir`. */
  readonly commonDir: string;
}

/** Another program may have written `.git`, so rejects with Error for a link and for the repository of another
 * folder. */
export async function findRepository(workspace: string): Promise<Repository | null> {
  const dot = join(workspace, ".git");
  const info = await Deno.lstat(dot).catch(() => null);
  if (info === null) return null;
  if (info.isSymlink) {
    throw advised(
      new Error(`Cannot use git: ${dot} is a link`),
      "ask the user to start Vis in the repository itself",
    );
  }
  const gitDir = await gitFolderOf(workspace);
  if (gitDir === null || !await isGitDir(gitDir)) return null;
  const commonDir = await commonFolderOf(gitDir);
  const outside = [gitDir, commonDir].find((folder) => !isWithin(folder, workspace));
  if (outside !== undefined && !await namesTop({ top: workspace, gitDir, commonDir })) {
    throw advised(
      new Error(`Cannot use git: ${dot} points to ${outside}, which does not name this folder as its worktree`),
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
