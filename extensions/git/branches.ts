import { join, relative, resolve } from "node:path";
import { advised, type EnvironmentView, isBelow, isWithin } from "@vis/extension";
import { Git, gitRefusal, gitSays, plainReason } from "./git.ts";
import { committer, isOn } from "./identity.ts";
import { refuseIncoming, refuseObeyed, refusePlanted } from "./incoming_files.ts";
import {
  checkedRef,
  commitHash,
  currentBranch,
  missingRef,
  nameOf,
  pathArguments,
  refError,
} from "./refs_and_paths.ts";
import { RecordReader } from "./git_output.ts";
import { topOf } from "./repository.ts";
import { type GitState, readState, readStatus, refuseDuring } from "./status.ts";

interface SwitchOptions {
  readonly create?: boolean;
  readonly from?: string;
}

export async function switchTo(env: EnvironmentView, to: string, options: SwitchOptions = {}): Promise<GitState> {
  const git = await Git.of(env, ["switch", to, options]);
  await goTo(git, { to, ...options });
  return await readState(git);
}

async function goTo(
  git: Git,
  { to, from, create = from !== undefined }: SwitchOptions & { readonly to: string },
): Promise<void> {
  checkedRef(to);
  if (from !== undefined) checkedRef(from);
  const cannot = `Cannot go to ${to}`;
  const there = await isBranch(git, to);
  if (create && there) {
    throw advised(new Error(`Cannot make branch ${to}: it already exists`), "call git.switch without create and from");
  }
  const remote = create || there ? null : await remoteBranch(git, to);
  const start = from ?? remote;
  const makes = create || remote !== null;
  const commit = there ? `refs/heads/${to}` : makes ? start : await commitHash(git, to, cannot).catch(unknown);
  if (commit !== null && commit !== undefined) {
    const hash = await commitHash(git, commit, cannot);
    await refuseIncoming(git, { incoming: [{ commit: hash, carries: true }], base: hash, cannot });
  }
  const how = makes ? ["--no-track", "--create"] : there ? [] : ["--detach"];
  const args = ["switch", "--quiet", "--no-guess", "--no-recurse-submodules", ...how, to, ...(start ? [start] : [])];
  const done = await git.run(args, { changes: "workspace" });
  if (done.code === 0) return;
  await refuseDuring(git, await readStatus(git), cannot);
  throw gitRefusal(git, done, cannot);

  function unknown(error: unknown): never {
    if (!(error instanceof Error) || "advice" in error) throw error;
    throw advised(error, "pass {create: true} to make a branch of this name");
  }
}

async function isBranch(git: Git, name: string): Promise<boolean> {
  return (await git.run(["show-ref", "--verify", "--quiet", `refs/heads/${name}`])).code === 0;
}

async function remoteBranch(git: Git, name: string): Promise<string | null> {
  if ((await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`])).code === 0) {
    return null;
  }
  const { stdout } = await git.run(["for-each-ref", "--format=%(refname)", "refs/remotes"]);
  const found = stdout.split("\n").filter((ref) => ref.split("/").slice(3).join("/") === name);
  return found.length === 1 ? found[0] ?? null : null;
}

export interface BranchOptions {
  readonly from?: string;
  readonly switch?: boolean;
  readonly delete?: boolean;
  readonly force?: boolean;
}

interface GitBranch {
  readonly name: string;
  readonly commit: string;
  readonly subject: string;
  readonly date: Date;
  readonly current?: true;
  readonly upstream?: string;
  readonly track?: string;
}

interface Branches {
  readonly current: string | null;
  readonly branches: readonly GitBranch[];
  readonly left: number;
}

const MAX_BRANCHES = 200;

const FORMAT = [
  "%(refname:lstrip=2)",
  "%(objectname)",
  "%(upstream:lstrip=2)",
  "%(upstream:track,nobracket)",
  "%(committerdate:unix)",
  "%(HEAD)",
  "%(contents:subject)",
].join("%00");

export async function listBranches(env: EnvironmentView): Promise<Branches> {
  return await branchesOf(await Git.of(env));
}

export async function changeBranch(
  env: EnvironmentView,
  name: string,
  options: BranchOptions = {},
): Promise<Branches> {
  const { from, switch: goes = false, delete: remove = false, force = false } = options;
  checkedRef(name);
  const start = from === undefined ? [] : [checkedRef(from)];
  if (remove && (goes || from !== undefined)) {
    throw advised(
      new TypeError(`Cannot delete branch ${name}: \`delete\` excludes \`switch\` and \`from\``),
      "omit them",
    );
  }
  const git = await Git.of(env, ["branch", name, options]);
  const there = await isBranch(git, name);
  if (remove) {
    const cannot = `Cannot delete branch ${name}`;
    if (!there) throw await missingRef(git, { cannot, name, kind: "branch" });
    await runBranch(git, ["branch", "--quiet", force ? "-D" : "-d", "--", name], cannot);
  } else if (there && (from !== undefined || !goes)) {
    throw advised(
      new Error(`Cannot make branch ${name}: it already exists`),
      from === undefined
        ? "pass {switch: true} to switch to it"
        : `choose another name, or omit from${goes ? "" : " and pass {switch: true}"} to switch to it`,
    );
  } else if (goes) await goTo(git, { to: name, create: !there, ...(from === undefined ? {} : { from }) });
  else await runBranch(git, ["branch", "--quiet", "--no-track", name, ...start], `Cannot make branch ${name}`, start);
  return await branchesOf(git);
}

async function runBranch(
  git: Git,
  args: readonly string[],
  cannot: string,
  refs: readonly string[] = [],
): Promise<void> {
  const { code, stderr } = await git.run(args, { changes: "repository" });
  if (code === 0) return;
  if (gitSays("notMerged", stderr)) {
    throw advised(new Error(`${cannot}: it has commits that are not merged`), "pass {force: true} to delete it anyway");
  }
  if (gitSays("checkedOut", stderr)) {
    throw advised(
      new Error(`${cannot}: it is checked out here or in a worktree`),
      "switch to another branch, or remove the worktree",
    );
  }
  throw await refError(git, { cannot, stderr, refs });
}

async function branchesOf(git: Git): Promise<Branches> {
  const branches: GitBranch[] = [];
  let left = 0;
  const reader = new RecordReader((line) => {
    if (branches.length < MAX_BRANCHES) branches.push(branchOf(line));
    else left++;
  });
  const { code, stderr } = await git.run(
    ["for-each-ref", "--sort=-committerdate", `--format=${FORMAT}`, "refs/heads"],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) throw new Error(`Cannot list branches: ${plainReason(stderr)}`);
  return { current: await currentBranch(git) || null, branches, left };
}

function branchOf(line: string): GitBranch {
  const [name = "", commit = "", upstream = "", track = "", date = "", head = "", subject = ""] = line.split("\0");
  return {
    name,
    commit,
    subject,
    date: new Date(Number(date) * 1000),
    ...(head === "*" ? { current: true } : {}),
    ...(upstream === "" ? {} : { upstream }),
    ...(track === "" ? {} : { track }),
  };
}

export interface TagOptions {
  readonly at?: string;
  readonly message?: string;
  readonly delete?: boolean;
}

interface Tags {
  readonly tags: readonly {
    readonly name: string;
    readonly commit: string;
    readonly date: Date;
    readonly message: string;
  }[];
  readonly left: number;
  /** The settings of git ask for a signature, and Vis signs no tag. */
  readonly signed?: false;
}

const MAX_TAGS = 200;
const TAG_FIELDS = ["refname:lstrip=2", "objectname", "*objectname", "creatordate:unix", "contents:subject"];

export async function tag(env: EnvironmentView, name?: string, options: TagOptions = {}): Promise<Tags> {
  const { at = "HEAD", message, delete: remove = false } = options;
  if (name !== undefined) checkedRef(name);
  else if (Object.keys(options).length > 0) {
    throw advised(new TypeError("Cannot change the tag: its name is missing"), "pass a name");
  }
  if (remove && (options.at !== undefined || message !== undefined)) {
    throw advised(new TypeError(`Cannot delete tag ${name}: \`delete\` excludes \`at\` and \`message\``), "omit them");
  }
  const git = await Git.of(env, ["tag", name, options]);
  if (name !== undefined && remove) await removeTag(git, name);
  else if (name !== undefined) await makeTag(git, name, checkedRef(at), message);
  const lacksSignature = name !== undefined && !remove &&
    (await isOn(git, "tag.gpgSign") || message !== undefined && await isOn(git, "tag.forceSignAnnotated"));
  if (!lacksSignature) return await tagsOf(git);
  env.note?.(`git.tag did not sign ${name}, although the settings of git ask for signed tags; tell the user`);
  return { ...await tagsOf(git), signed: false };
}

async function makeTag(git: Git, name: string, at: string, message: string | undefined): Promise<void> {
  const cannot = `Cannot make tag ${name}`;
  if (await isTag(git, name)) {
    throw advised(new Error(`${cannot}: it already exists`), "choose another name, or delete it first");
  }
  const hash = await commitHash(git, at, cannot);
  const args = message === undefined
    ? ["tag", "--no-sign", "--", name, hash]
    : ["tag", "--no-sign", "--annotate", "--cleanup=whitespace", "--file=-", "--", name, hash];
  const { code, stderr } = await git.run(args, {
    changes: "repository",
    ...(message === undefined ? {} : { input: message, env: await committer(git) }),
  });
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
}

async function removeTag(git: Git, name: string): Promise<void> {
  const cannot = `Cannot delete tag ${name}`;
  if (!await isTag(git, name)) throw await missingRef(git, { cannot, name, kind: "tag" });
  const { code, stderr } = await git.run(["tag", "--delete", "--", name], { changes: "repository" });
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
}

async function isTag(git: Git, name: string): Promise<boolean> {
  return (await git.run(["show-ref", "--verify", "--quiet", `refs/tags/${name}`])).code === 0;
}

async function tagsOf(git: Git): Promise<Tags> {
  const format = TAG_FIELDS.map((field) => `%(${field})`).join("%00");
  const { code, stdout, stderr } = await git.run([
    "for-each-ref",
    "--sort=-creatordate",
    `--format=${format}`,
    "refs/tags",
  ]);
  if (code !== 0) throw new Error(`Cannot list tags: ${plainReason(stderr)}`);
  const lines = stdout.split("\n").filter((line) => line !== "");
  const tags = lines.slice(0, MAX_TAGS).map((line) => {
    const [name = "", hash = "", target = "", date = "", message = ""] = line.split("\0");
    return { name, commit: target || hash, date: new Date(Number(date) * 1000), message };
  });
  return { tags, left: Math.max(0, lines.length - MAX_TAGS) };
}

export interface WorktreeOptions {
  readonly branch?: string;
  readonly from?: string;
  readonly remove?: boolean;
  readonly force?: boolean;
}

interface Worktree {
  readonly path: string;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly gone?: string;
  readonly locked?: true;
}

export async function listWorktrees(env: EnvironmentView): Promise<readonly Worktree[]> {
  return await worktreesOf(await Git.of(env));
}

export async function changeWorktree(
  env: EnvironmentView,
  path: string,
  options: WorktreeOptions = {},
): Promise<readonly Worktree[]> {
  const { branch, from, remove = false, force = false } = options;
  const refs = [branch, from].filter((ref) => ref !== undefined).map((ref) => checkedRef(ref));
  const [dashes = "--", place = ""] = pathArguments(path);
  if (remove && refs.length > 0) {
    throw advised(
      new TypeError(`Cannot remove worktree ${path}: \`remove\` excludes \`branch\` and \`from\``),
      "omit them",
    );
  }
  const cannot = `Cannot ${remove ? "remove" : "make"} worktree ${path}`;
  const target = resolve(env.workspace, place),
    top = topOf(env),
    folder = isWithin(top, env.workspace) ? top : env.workspace;
  const isInGit = isWithin(target, resolve(folder, ".git")), name = relative(env.workspace, folder);
  if (isInGit || !isBelow(target, folder)) {
    throw advised(
      new Error(`${cannot}: the path is ${isInGit ? "in .git" : `not below ${name || "the workspace"}`}`),
      `name one such as ${join(name, ".worktrees/x")}`,
    );
  }
  const git = await Git.of(env, ["worktree", path, options]);
  const isThere = branch !== undefined && await isBranch(git, branch), isNew = branch !== undefined && !isThere;
  if (isThere && from !== undefined) {
    throw advised(
      new Error(`${cannot}: branch ${branch} already exists`),
      `omit \`from\` to use it, or name another branch`,
    );
  }
  const used = isThere ? (await worktreesOf(git)).find((one) => one.branch === branch) : undefined;
  if (used !== undefined) {
    throw advised(new Error(`${cannot}: ${used.path} uses branch ${branch}`), "name another branch");
  }
  if (!remove) {
    const commit = await commitHash(git, from ?? (isThere ? `refs/heads/${branch}` : "HEAD"), cannot);
    await refusePlanted(git, { commit, place: target, cannot });
    await refuseObeyed(git, { commit, place: target, cannot });
  }
  const head = isThere ? [] : isNew ? ["--no-track", "-b", branch] : ["--detach"];
  const start = isThere ? branch : from;
  const args = remove
    ? ["worktree", "remove", ...(force ? ["--force"] : []), dashes, target]
    : ["worktree", "add", "--quiet", ...head, dashes, target, ...(start === undefined ? [] : [start])];
  const { code, stderr } = await git.run(args, {
    changes: "workspace",
    ...(remove ? { opens: [join(target, ".git")] } : {}),
  });
  if (code !== 0) {
    // Git creates the branch before the worktree, so Vis deletes a new branch if the worktree failed.
    if (isNew && await isBranch(git, branch)) {
      await git.run(["branch", "--quiet", "-D", "--", branch], { changes: "repository" });
    }
    if (gitSays("notClean", stderr)) {
      throw advised(
        new Error(`${cannot}: it has uncommitted changes or untracked files`),
        "pass {force: true} to discard them",
      );
    }
    throw await refError(git, { cannot, stderr, refs: from === undefined ? [] : [from] });
  }
  return await worktreesOf(git);
}

async function worktreesOf(git: Git): Promise<readonly Worktree[]> {
  const { code, stdout, stderr } = await git.run(["worktree", "list", "--porcelain"]);
  if (code !== 0) throw new Error(`Cannot list worktrees: ${plainReason(stderr)}`);
  return stdout.trim().split("\n\n").filter((text) => text !== "").map((text) => {
    const facts = new Map(
      text.split("\n").map((line) => {
        const [key = "", ...value] = line.split(" ");
        return [key, value.join(" ")];
      }),
    );
    const gone = facts.get("prunable"), hash = facts.get("HEAD") ?? "";
    return {
      path: nameOf(facts.get("worktree") ?? ""),
      commit: /^0*$/.test(hash) ? null : hash, // Git writes zeros before the first commit.
      branch: facts.get("branch")?.replace(/^refs\/heads\//, "") ?? null,
      ...(gone === undefined ? {} : { gone }),
      ...(facts.has("locked") ? { locked: true } : {}),
    };
  });
}
