import { advised, smallTextFile, someOf } from "@vis/extension";
import { join } from "node:path";
import type { CallOutcome, EnvironmentView } from "@vis/extension";
import { Git, plainReason } from "./git.ts";
import { columns, nameOf, pathArguments } from "./refs_and_paths.ts";
import { RecordReader } from "./git_output.ts";

export interface StatusOptions {
  readonly paths?: string | readonly string[];
  readonly all?: boolean;
  readonly limit?: number;
}

type Change = "added" | "modified" | "deleted" | "renamed" | "copied" | "type";

export interface FileStatus {
  readonly path: string;
  readonly from?: string;
  readonly staged?: Change;
  readonly changed?: Change;
  readonly untracked?: true;
  readonly conflict?: string;
  readonly submodule?: true;
}

interface Status {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly upstream?: string;
  readonly ahead?: number;
  readonly behind?: number;
  readonly during?: string;
  readonly files: readonly FileStatus[];
  readonly count: Readonly<Record<"staged" | "changed" | "untracked" | "conflicts", number>>;
  readonly left: number;
}

const LIMIT = 500, MOST = 100_000;

const CHANGES: Readonly<Record<string, Change>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type",
};

const CONFLICTS: Readonly<Record<string, string>> = {
  DD: "both deleted",
  AU: "added by us",
  UD: "deleted by them",
  UA: "added by them",
  DU: "deleted by us",
  AA: "both added",
  UU: "both modified",
};

/** Between two commits of a list, this file remains, but not CHERRY_PICK_HEAD or REVERT_HEAD. */
const STEPS = "sequencer/todo";

const DURING: readonly (readonly [file: string, what: string])[] = [
  ["MERGE_HEAD", "merge"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  [STEPS, "cherry-pick"],
  ["BISECT_LOG", "bisect"],
];

export async function status(env: EnvironmentView, options: StatusOptions = {}): Promise<Status> {
  return await readStatus(await Git.of(env), options);
}

export async function readStatus(
  git: Git,
  { paths, all = false, limit = LIMIT, cannot = "Cannot read the status" }: StatusOptions & {
    readonly cannot?: string;
  } = {},
): Promise<Status> {
  const report = new StatusReport(limit);
  const reader = new RecordReader((line) => report.line(line));
  const { code, stderr } = await git.run(
    [
      "status",
      "--porcelain=v2",
      "--branch",
      "--find-renames",
      "--ignore-submodules=dirty",
      `--untracked-files=${all ? "all" : "normal"}`,
      ...pathArguments(paths),
    ],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
  const during = await duringOf(git.repository.gitDir);
  return { ...report.head, ...(during ? { during } : {}), ...report.files };
}

export async function uncommittedWords(env: EnvironmentView, signal: AbortSignal): Promise<string> {
  if (!env.spawn) return "";
  try {
    const git = await Git.of(Object.create(env, { signal: { value: signal, enumerable: true } }));
    const { files, left, during } = await readStatus(git, { limit: MOST });
    const added = files.filter(({ untracked }) => untracked).length, changed = files.length + left - added;
    const counts = [...changed > 0 ? [`${changed} changed`] : [], ...added > 0 ? [`${added} new`] : []];
    const things = changed + added === 1 ? "file" : "files";
    const words = counts.length === 0 ? " without changes" : ` with ${counts.join(" and ")} ${things}`;
    return during === undefined ? words : `${words}, during a ${during}`;
  } catch {
    return "";
  }
}

export async function halfRenames(git: Git, files: readonly FileStatus[], cannot: string): Promise<readonly Rename[]> {
  if (!files.some(({ staged }) => staged === "added" || staged === "deleted")) return [];
  const named = new Set(files.map(({ path }) => path));
  const all = await readStatus(git, { limit: MOST, cannot });
  return all.files.flatMap((file) => {
    const { path, from, staged } = file;
    if (from === undefined || staged !== "renamed" || named.has(path) === named.has(from)) return [];
    return [{ file, from, other: named.has(path) ? from : path }];
  });
}

interface Rename {
  readonly file: FileStatus;
  readonly from: string;
  readonly other: string;
}

async function duringOf(gitDir: string): Promise<string | null> {
  for (const [file, what] of DURING) {
    if (!await isThere(join(gitDir, file))) continue;
    if (file !== STEPS) return what;
    return /^\s*revert\b/.test(await smallTextFile(join(gitDir, file)) ?? "") ? "revert" : what;
  }
  return null;
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

class StatusReport {
  readonly #limit: number;
  readonly #facts = new Map<string, string>();
  readonly #files: FileStatus[] = [];
  readonly #count = { staged: 0, changed: 0, untracked: 0, conflicts: 0 };
  #left = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get head(): Pick<Status, "branch" | "commit" | "upstream" | "ahead" | "behind"> {
    const oid = this.#facts.get("branch.oid");
    const head = this.#facts.get("branch.head");
    const upstream = this.#facts.get("branch.upstream");
    const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(this.#facts.get("branch.ab") ?? "") ?? [];
    return {
      branch: head === undefined || head === "(detached)" ? null : head,
      commit: oid === undefined || oid === "(initial)" ? null : oid,
      ...(upstream === undefined ? {} : { upstream }),
      ...(ahead === undefined ? {} : { ahead: Number(ahead), behind: Number(behind) }),
    };
  }

  get files(): Pick<Status, "files" | "count" | "left"> {
    return { files: this.#files, count: { ...this.#count }, left: this.#left };
  }

  line(line: string): void {
    const fields = line.split(" ");
    const [kind, second = ""] = fields;
    if (kind === "#") this.#facts.set(second, fields.slice(2).join(" "));
    else if (kind === "?") this.#add({ path: nameOf(line.slice(2)), untracked: true });
    else if (kind === "1") this.#add(changeOf(second, fields, fields.slice(8).join(" ")));
    else if (kind === "2") {
      const [path = "", from = ""] = columns(fields.slice(9).join(" "));
      this.#add({ ...changeOf(second, fields, path), from: nameOf(from) });
    } else if (kind === "u") {
      this.#add({ path: nameOf(fields.slice(10).join(" ")), conflict: CONFLICTS[second] ?? second });
    }
  }

  #add(file: FileStatus): void {
    if (file.staged) this.#count.staged++;
    if (file.changed) this.#count.changed++;
    if (file.untracked) this.#count.untracked++;
    if (file.conflict) this.#count.conflicts++;
    if (this.#files.length < this.#limit) this.#files.push(file);
    else this.#left++;
  }
}

function changeOf(xy: string, fields: readonly string[], path: string): FileStatus {
  const staged = CHANGES[xy[0] ?? ""];
  const changed = CHANGES[xy[1] ?? ""];
  return {
    path: nameOf(path),
    ...(staged ? { staged } : {}),
    ...(changed ? { changed } : {}),
    ...(fields[2]?.startsWith("S") ? { submodule: true } : {}),
  };
}

export interface GitState {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly subject: string;
  readonly uncommitted: number;
  readonly during?: string;
  readonly conflicts?: readonly { readonly path: string; readonly conflict: string }[];
  readonly next?: string;
}

const ENDS: Readonly<Record<string, readonly [name: string, skips: boolean]>> = {
  merge: ["merge", false],
  rebase: ["rebase", true],
  "cherry-pick": ["cherryPick", true],
  revert: ["revert", true],
};

export async function readState(git: Git, next?: string): Promise<GitState> {
  const status = await readStatus(git, { limit: MOST }), { branch, commit, during, files } = status;
  const conflicts = files.flatMap(({ path, conflict }) => conflict ? [{ path, conflict }] : []);
  const subject = commit === null ? "" : (await git.run(["log", "-1", "--no-show-signature", "--format=%s"])).stdout;
  const then = during === undefined ? next : await wayOn(git, status);
  return {
    branch,
    commit,
    subject: subject.trim(),
    uncommitted: files.filter(({ untracked }) => !untracked).length,
    ...(during === undefined ? {} : { during }),
    ...(conflicts.length === 0 ? {} : { conflicts }),
    ...(then === undefined ? {} : { next: then }),
  };
}

export function stateOutcome(
  { branch, commit, subject, during, conflicts, signed = true, saved }: GitState & {
    readonly signed?: boolean;
    readonly saved?: string;
  },
): CallOutcome {
  const unfinished = during !== undefined;
  if (conflicts) return { text: `conflicts: ${someOf(conflicts.map(({ path }) => path))}`, ok: false, unfinished };
  const at = `${branch ?? "detached"} at ${commit === null ? "no commit" : `${commit.slice(0, 7)} ${subject}`}`;
  const more = [
    ...unfinished ? [`during a ${during}`] : [],
    ...signed ? [] : ["not signed"],
    ...saved === undefined ? [] : [`discarded work saved as ${saved.slice(0, 7)}`],
  ];
  const text = [at, ...more].join(", ");
  return { text, ok: true, unfinished };
}

type Unfinished = Pick<Status, "during" | "commit" | "count">;

export async function refuseDuring(git: Git, status: Unfinished, cannot: string): Promise<void> {
  if (status.during === undefined) return;
  throw advised(new Error(`${cannot}: a ${status.during} is unfinished`), await wayOn(git, status));
}

export async function wayOn(git: Git, status: Unfinished): Promise<string> {
  const { during = "", count: { conflicts, staged } } = status;
  const [name, skips] = ENDS[during] ?? [];
  if (name === undefined) return "leave it to the user";
  const continued = during === "merge" ? "git.commit(message)" : `git.${name}({continue: true})`;
  const abort = `git.${name}({abort: true})`;
  if (conflicts > 0) return `edit the files, git.add them, then ${continued}, or ${abort}${skips ? SKIP : ""}`;
  const omit = `git.${name}({skip: true}) to omit the commit`;
  const begun = during === "merge" || during === "rebase" || await hasBegun(git);
  if (!begun) return `${await isRefused(git, status) ? omit : continued}, or ${abort}`;
  if (staged === 0 && (during === "cherry-pick" || during === "revert")) {
    return `${omit}, git.commit(message, {allowEmpty: true}) to keep it, or ${abort}`;
  }
  return `${continued}, or ${abort}${skips ? SKIP : ""}`;
}

const SKIP = ", {skip: true}";

/** Returns true if git stopped at a commit of a list without applying it. With `--continue`, git would omit the commit
 * without a word. */
export async function isRefused(git: Git, { commit }: Pick<Status, "commit">): Promise<boolean> {
  const stoppedAt = await smallTextFile(join(git.repository.gitDir, "sequencer/abort-safety"));
  return stoppedAt?.trim() === commit && !await hasBegun(git);
}

async function hasBegun({ repository: { gitDir } }: Git): Promise<boolean> {
  return await isThere(join(gitDir, "CHERRY_PICK_HEAD")) || await isThere(join(gitDir, "REVERT_HEAD"));
}
