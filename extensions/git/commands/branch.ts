import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { gitSays, plainReason } from "../program/git_error.ts";
import { RecordReader } from "../output/record_reader.ts";
import { checkedRef, refError } from "../program/refs.ts";
import { goTo, isBranch } from "./switch.ts";

export interface BranchOptions {
  /** Where a new branch starts; HEAD by default. */
  readonly from?: string;
  /** Switches to the branch; creates it if it does not exist. */
  readonly switch?: boolean;
  readonly delete?: boolean;
  /** With `delete`: deletes a branch even if it has commits that are nowhere else. */
  readonly force?: boolean;
}

export interface GitBranch {
  readonly name: string;
  readonly hash: string;
  readonly subject: string;
  readonly date: Date;
  readonly current?: true;
  readonly upstream?: string;
  /** Such as "ahead 1, behind 2", or "gone". */
  readonly track?: string;
}

export interface Branches {
  /** Null if HEAD is detached. */
  readonly current: string | null;
  readonly branches: readonly GitBranch[];
  readonly left: number;
}

const LIMIT = 200;
const FIELDS = [
  "refname:short",
  "objectname",
  "upstream:short",
  "upstream:track,nobracket",
  "committerdate:unix",
  "HEAD",
];
const FORMAT = `${FIELDS.map((field) => `%(${field})`).join("%00")}%00%(contents:subject)`;

/** `git.branch()`: all branches of this repository, newest first. */
export async function listBranches(env: EnvironmentView): Promise<Branches> {
  return await branchesOf(await Git.of(env));
}

/** `git.branch(name, …)`: creates, deletes, or switches to a branch; returns the same as `git.branch()`. */
export async function changeBranch(
  env: EnvironmentView,
  name: string,
  options: BranchOptions = {},
): Promise<Branches> {
  const { from, switch: goes = false, delete: remove = false, force = false } = options;
  checkedRef(name);
  const start = from === undefined ? [] : [checkedRef(from)];
  if (remove && (goes || from !== undefined)) throw new TypeError("Cannot delete a branch and go to it");
  const git = await Git.of(env, ["branch", name, options]);
  const there = await isBranch(git, name);
  if (remove) {
    if (!there) throw await refError(git, { cannot: `Cannot delete ${name}`, stderr: null, refs: [name] });
    await make(git, { args: ["branch", "--quiet", force ? "-D" : "-d", "--", name], cannot: `delete ${name}` });
  } else if (there && (from !== undefined || !goes)) {
    const hint = goes || from !== undefined ? "" : "; {switch: true} switches to it";
    throw new Error(`Cannot make branch ${name}: it already exists${hint}`);
  } else if (goes) await goTo(git, { to: name, create: !there, ...(from === undefined ? {} : { from }) });
  else {await make(git, {
      args: ["branch", "--quiet", "--no-track", name, ...start],
      cannot: `make ${name}`,
      refs: start,
    });}
  return await branchesOf(git);
}

async function make(
  git: Git,
  { args, cannot, refs = [] }: {
    readonly args: readonly string[];
    readonly cannot: string;
    readonly refs?: readonly string[];
  },
): Promise<void> {
  const { code, stderr } = await git.run(args, { changes: "repository" });
  if (code === 0) return;
  if (gitSays("notMerged", stderr)) {
    throw new Error(`Cannot ${cannot}: it has commits of its own; {force: true}`);
  }
  if (gitSays("checkedOut", stderr)) {
    throw new Error(`Cannot ${cannot}: it is checked out here or in a worktree; git.switch to another branch there`);
  }
  throw await refError(git, { cannot: `Cannot ${cannot}`, stderr, refs });
}

async function branchesOf(git: Git): Promise<Branches> {
  const branches: GitBranch[] = [];
  let left = 0;
  const reader = new RecordReader((line) => {
    if (branches.length < LIMIT) branches.push(branchOf(line));
    else left++;
  });
  const { code, stderr } = await git.run(
    ["for-each-ref", "--sort=-committerdate", `--format=${FORMAT}`, "refs/heads"],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) throw new Error(`Cannot list branches: ${plainReason(stderr)}`);
  const { stdout } = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return { current: stdout.trim() || null, branches, left };
}

function branchOf(line: string): GitBranch {
  const [name = "", hash = "", upstream = "", track = "", date = "", head = "", subject = ""] = line.split("\0");
  return {
    name,
    hash,
    subject,
    date: new Date(Number(date) * 1000),
    ...(head === "*" ? { current: true } : {}),
    ...(upstream === "" ? {} : { upstream }),
    ...(track === "" ? {} : { track }),
  };
}
