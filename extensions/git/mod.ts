import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type Before,
  counted,
  defineExtension,
  type EnvironmentView,
  fn,
  type FunctionOptions,
  gitFolderOf,
  smallTextFile,
  z,
} from "@vis/extension";
import {
  type BranchOptions,
  changeBranch,
  changeWorktree,
  listBranches,
  listWorktrees,
  switchTo,
  tag,
  type TagOptions,
  type WorktreeOptions,
} from "./branches.ts";
import { add, type Added, commit, type CommitOptions, init } from "./commit.ts";
import { diff, type DiffOptions } from "./diff.ts";
import { gh, type GhOptions, ghReads } from "./github.ts";
import { checkGit, PATHS_FIRST } from "./git.ts";
import { blame, type BlameOptions, log, type LogOptions, show, type ShowOptions } from "./history.ts";
import { IdentityConfig } from "./identity.ts";
import { inFolder, repoOf } from "./refs_and_paths.ts";
import { adviceBelow } from "./repository.ts";
import {
  merge,
  type MergeOptions,
  pickCommits,
  type PickOptions,
  rebase,
  type RebaseOptions,
  type SequenceSteps,
} from "./merge_rebase.ts";
import { stateOutcome, status, type StatusOptions, uncommittedWords } from "./status.ts";
import { type FetchOptions, fetchRemote, push, type PushOptions } from "./remotes.ts";
import { reset, type ResetOptions, restore, type RestoreOptions, stash, type StashOptions } from "./stash_reset.ts";

/** The command wall allows the folders of these programs, which are in the default PATH. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

const text = z.string().min(1);
const pathList = z.union([text, z.array(text).min(1)]);
const paths = pathList.optional();
const ref = text.optional();
const count = (most: number) => z.number().int().min(1).max(most).optional();
const flag = z.boolean().optional();
const context = z.number().int().min(0).max(100).optional();
const maxChars = count(10_000_000);
const time = z.union([text, z.date()]).optional();

const DIFF =
  "{files: {path, from?, status, added, deleted, binary?, mode?, hunks: {oldStart, oldLines, newStart, newLines, heading, text}[], left?}[], total: {files, added, deleted}, left}";

const COMMIT = "{commit, short, parents, author: {name, email, date: Date}, committer?, refs?, subject, body?}";

const BRANCHES =
  "{current: string|null, branches: {name, commit, subject, date: Date, current?, upstream?, track?}[], left}";

const STATE =
  "{branch: string|null, commit, subject, uncommitted: number, during?, conflicts?: {path, conflict}[], next?}";

const under = (key: string, names: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(names).map(([name, instead]) => [`${key}.${name}`, instead]));
const PATH_NAMES = { file: "path", filename: "path", name: "path" };
const HASH_NAMES = { hash: "commit", sha: "commit", oid: "commit", id: "commit" };
const COMMIT_NAMES = { ...HASH_NAMES, message: "subject and body", title: "subject", date: "author.date" };
const STATE_NAMES = {
  ...HASH_NAMES,
  ...{ head: "commit", message: "subject", dirty: "uncommitted" },
  ...{ ok: "conflicts", success: "conflicts" },
};
const CHANGES = {
  ...under("files", { ...PATH_NAMES, additions: "added", insertions: "added", deletions: "deleted", patch: "hunks" }),
  ...{ "files.diff": "hunks", "files.hunks.lines": "text", diff: "files", patch: "files" },
};

const more = (type: string, keys: string): string => `${type.slice(0, -1)}, ${keys}}`;
const SEQUENCED = more(STATE, "was, why?, saved?, signed?");
const WORKTREES = "{path, commit, branch, gone?, locked?}[]";
const which = z.union([z.boolean(), z.number().int().min(0), text]).optional();
const STEPS = { continue: flag, abort: flag, skip: flag };
const RESET = { mode: z.enum(["soft", "mixed", "hard"]).optional(), force: flag };
const options = <T extends Readonly<Record<string, z.ZodType>>>(own: T) => z.strictObject({ ...own, repo: ref });
const orOptions = (own: Readonly<Record<string, z.ZodType>>) => z.union([text, options(own)]);
const PICKED = { noCommit: flag, mainline: count(100) };

const PICK = z.tuple([
  z.union([text, z.array(text).min(1), options(STEPS)]).describe("refs"),
  options(PICKED).optional(),
]);

const isNameless = (first: unknown): boolean =>
  first === undefined ||
  typeof first === "object" && first !== null && Object.keys(first).every((key) => key === "repo");

const listsWithout = (things: string, one: string) => ({
  reads: isNameless,
  action: (first?: unknown) =>
    isNameless(first)
      ? { doing: `listing ${things}`, done: `listed ${things}`, things: "times", named: 0 }
      : { doing: `changing ${one}`, done: `changed ${one}`, things },
});

interface Words {
  readonly doing: string;
  readonly done: string;
  readonly things: string;
  readonly named?: number;
}

const stepWords = (one: string, begun: Words) => (first?: unknown): Words => {
  const { abort, skip, continue: resumed } =
    (typeof first === "object" && first !== null ? first : {}) as SequenceSteps;
  const words = (ing: string, ed: string) => ({
    doing: `${ing} ${one}`,
    done: `${ed} ${one}`,
    things: "times",
    named: 0,
  });
  if (abort) return words("aborting", "aborted");
  if (skip) return words("skipping a step of", "skipped a step of");
  return resumed ? words("continuing", "continued") : begun;
};

const listsStashes = (options?: StashOptions) => options?.list === true;

/** The name is optional, so the options may come first. */
const NAME_FIRST = ["show", "branch", "worktree", "tag", "push"];

const afterName: Before = ({ args }) => ({
  args: typeof args[0] === "object" && !Array.isArray(args[0]) ? [undefined, ...args] : args,
});

const SWITCH = {
  doc: "Goes to a branch (create: a new one), tag or commit; uncommitted changes come along.",
  untimed: true,
  action: { doing: "switching to", done: "switched to", things: "branches" },
  outcome: stateOutcome,
  args: z.tuple([text.describe("to"), options({ create: flag, from: ref }).optional()]),
  misnamed: STATE_NAMES,
  returns: STATE,
};

export default defineExtension({
  namespace: "vis.git",
  alias: { ns: "vis.ext.git", alias: "git" },
  doc:
    "Reads and changes the repository of the workspace. Of its programs, only hooks of commits run, after a question.",
  group: "workspace",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  config: IdentityConfig,
  onByDefault: true,
  activate: async ({ programWalls }) => hasGit() && await programWalls?.().then(() => true, () => false) !== false,
  prompt: async (env) => {
    const dot = `${env.root ?? env.workspace}/.git`;
    const change = (what: string): string => env.onlyReads ? "" : ` Change ${what} here, not by shell.`;
    if (isRepository(dot)) {
      return `The repository of cwd${await headOf(dot, env)}, as data.${change("it")}`;
    }
    const below = await adviceBelow(env.workspace);
    return below === null ? "" : `The repositories below cwd, as data; ${below}.${change("them")}`;
  },
  shown: 0,
  doctor: checkGit,
  symbols: [
    fn("status", (env: EnvironmentView, options?: StatusOptions) => status(env, options), {
      doc: "Branch and changed files; all names the files of new folders one by one.",
      untimed: true,
      reads: true,
      action: { doing: "reading git status", done: "read git status", things: "times", named: 0 },
      args: z.tuple([options({ paths, all: flag, limit: count(100_000) }).optional()]),
      misnamed: {
        ...under("files", { ...PATH_NAMES, status: "staged, changed, untracked or conflict" }),
        ...HASH_NAMES,
        ...{ head: "commit", staged: "count.staged", modified: "count.changed" },
        ...{ changed: "count.changed", untracked: "count.untracked", conflicts: "count.conflicts" },
        ...{ clean: "files.length === 0", isClean: "files.length === 0", dirty: "files.length > 0" },
      },
      returns:
        "{branch, commit, upstream?, ahead?, behind?, during?, files: {path, from?, staged?, changed?, untracked?, conflict?, submodule?}[], count: {staged, changed, untracked, conflicts}, left}",
      examples: ["(await git.status()).files.map(f => f.path)"],
    }),
    fn("diff", (env: EnvironmentView, options?: DiffOptions) => diff(env, options), {
      doc:
        "Changes of the workspace against the index or a commit (from); staged: of the index; from, to: between commits.",
      untimed: true,
      reads: true,
      action: { doing: "reading git diff", done: "read git diff", things: "times", named: 0 },
      args: z.tuple([
        options({ from: ref, to: ref, staged: flag, paths, context, maxChars }).optional(),
      ]),
      misnamed: { ...CHANGES, additions: "total.added", deletions: "total.deleted", stats: "total" },
      returns: DIFF,
      before: ({ args }) => ({ args: diffArguments(args) }),
      examples: ['await git.diff({from: "main"})', 'await git.diff({staged: true, paths: "src"})'],
    }),
    fn("log", (env: EnvironmentView, options?: LogOptions) => log(env, options), {
      doc: "Commits, the newest first; ref may be a range; left counts older ones.",
      untimed: true,
      reads: true,
      action: { doing: "reading git log", done: "read git log", things: "times", named: 0 },
      args: z.tuple([
        options({
          ref,
          paths,
          limit: count(10_000),
          skip: z.number().int().min(0).optional(),
          author: ref,
          grep: ref,
          since: time,
          until: time,
          firstParent: flag,
        }).optional(),
      ]),
      misnamed: { ...under("commits", COMMIT_NAMES), all: "commits", latest: "commits[0]", length: "commits.length" },
      returns: `{commits: ${COMMIT}[], left}`,
      before: ({ args }) => ({ args: logArguments(args) }),
      examples: ['await git.log({ref: "main..HEAD", limit: 20})', 'await git.log({paths: "src/app.ts"})'],
    }),
    fn("show", (env: EnvironmentView, name?: string, options?: ShowOptions) => show(env, name, options), {
      doc: "A commit with its changes, or a file, folder or tag: HEAD~2, HEAD:src/app.ts.",
      untimed: true,
      reads: true,
      action: { doing: "reading commit", done: "read", things: "commits" },
      args: z.tuple([ref.describe("ref"), options({ context, maxChars }).optional()]),
      misnamed: { ...COMMIT_NAMES, ...CHANGES, content: "text", contents: "text" },
      returns: `${
        COMMIT.slice(0, -1)
      }, files, total, left, kind: "commit"} | {kind: "file", hash, bytes, text, left} | {kind: "folder", hash, entries: {path, type, size?}[], left} | {kind: "tag", name, target, tagger, message}`,
      examples: ['(await git.show("HEAD:README.md")).text'],
    }),
    fn("blame", (env: EnvironmentView, path: string, options?: BlameOptions) => blame(env, path, options), {
      doc: "The commits that the lines of a file came with.",
      untimed: true,
      reads: true,
      action: { doing: "reading blame of", done: "read blame of", things: "files" },
      args: z.tuple([
        text.describe("path"),
        options({ ref, from: count(10_000_000), to: count(10_000_000) }).optional(),
      ]),
      misnamed: { ...under("origins", HASH_NAMES), lines: "origins", "origins.line": "from and to" },
      returns: "{origins: {from, to, commit: string|null, author, date: Date, subject, path?, text}[], left}",
      examples: ['await git.blame("src/app.ts", {from: 10, to: 30})'],
    }),
    fn("add", (env: EnvironmentView, of: string | readonly string[]) => add(env, of), {
      doc: "Stages new, changed and deleted files below the paths.",
      untimed: true,
      action: { doing: "staging", done: "staged", things: "paths" },
      outcome: ({ files, left }: Added, args) => ({
        text: counted(files.length + left, "file"),
        partOf: repoOf(args) ?? "",
      }),
      args: z.tuple([pathList.describe("paths"), options({}).optional()]),
      misnamed: { ...under("files", PATH_NAMES), "files.status": "change" },
      returns: "{files: {path, change}[], left}",
      examples: ['await git.add(["src/app.ts", "docs"])'],
    }),
    fn("commit", (env: EnvironmentView, message: string, options?: CommitOptions) => commit(env, message, options), {
      doc:
        "Commits what is staged; all: what changed of known files; paths: only these files, new ones too, renames whole. Hooks run after a question.",
      untimed: true,
      tellsFailure: true,
      action: { doing: "committing", done: "committed", things: "times" },
      outcome: (
        { short, signed = true, skippedHooks = [] }: {
          readonly short: string;
          readonly signed?: boolean;
          readonly skippedHooks?: readonly string[];
        },
        args,
      ) => ({
        text: [
          short,
          ...skippedHooks.length === 0 ? [] : [`without its hook ${skippedHooks.join(", ")}`],
          ...signed ? [] : ["not signed"],
        ].join(", "),
        unfinished: false,
        // A commit of paths leaves other staged changes staged.
        ...hasPaths(args) ? {} : { partOf: repoOf(args) ?? "" },
      }),
      args: z.tuple([
        text.describe("message"),
        options({ all: flag, paths, amend: flag, allowEmpty: flag, hooks: flag, sign: flag }).optional(),
      ]),
      misnamed: { ...COMMIT_NAMES, insertions: "added", additions: "added", deletions: "deleted" },
      returns: `${COMMIT.slice(0, -1)}, files, added, deleted, signed?, skippedHooks?, changes?}`,
      examples: ['await git.commit("fix: count lines once")'],
    }),
    fn(
      "branch",
      (env: EnvironmentView, name?: string, options?: BranchOptions) =>
        name === undefined ? listBranches(env) : changeBranch(env, name, options),
      {
        doc: "Lists branches; with a name makes, deletes, or goes to (switch) one.",
        untimed: true,
        ...listsWithout("branches", "branch"),
        args: z.tuple([
          ref.describe("name"),
          options({ from: ref, switch: flag, delete: flag, force: flag }).optional(),
        ]),
        misnamed: { ...under("branches", HASH_NAMES), all: "branches", "branches.isCurrent": "current" },
        returns: BRANCHES,
        examples: ['await git.branch("fix/lines", {switch: true})'],
      },
    ),
    fn(
      "worktree",
      (env: EnvironmentView, path?: string, options?: WorktreeOptions) =>
        path === undefined ? listWorktrees(env) : changeWorktree(env, path, options),
      {
        doc: "Lists worktrees; with a path in the workspace makes or removes one.",
        untimed: true,
        ...listsWithout("worktrees", "worktree"),
        args: z.tuple([
          ref.describe("path"),
          options({ branch: ref, from: ref, remove: flag, force: flag }).optional(),
        ]),
        misnamed: { ...HASH_NAMES, head: "commit", name: "path" },
        returns: WORKTREES,
        examples: ['await git.worktree(".worktrees/try", {branch: "try"})'],
      },
    ),
    fn("switch", switchTo, { ...SWITCH, examples: ['await git.switch("fix/lines", {create: true})'] }),
    fn("checkout", switchTo, SWITCH),
    fn(
      "restore",
      (env: EnvironmentView, of: string | readonly string[], options?: RestoreOptions) => restore(env, of, options),
      {
        doc:
          "Makes files as they are staged or in a commit (from); staged: takes them out of the next commit instead. " +
          "saved is a commit of the discarded changes.",
        untimed: true,
        action: { doing: "restoring", done: "restored", things: "paths" },
        outcome: ({ files, left }: { readonly files: readonly string[]; readonly left: number }) =>
          counted(files.length + left, "file"),
        args: z.tuple([pathList.describe("paths"), options({ from: ref, staged: flag }).optional()]),
        returns: "{files: string[], left, saved?}",
        examples: ['await git.restore("src/app.ts", {from: "HEAD~1"})', 'await git.restore(".", {staged: true})'],
      },
    ),
    fn("stash", (env: EnvironmentView, options?: StashOptions) => stash(env, options), {
      doc: "Stashes uncommitted changes; or lists stashes, or pops, applies or drops one (true, number or hash).",
      untimed: true,
      reads: listsStashes,
      action: (options?: StashOptions) => ({
        ...listsStashes(options)
          ? { doing: "listing stashes", done: "listed stashes" }
          : { doing: "changing stashes", done: "changed stashes" },
        things: "times",
        named: 0,
      }),
      outcome: stateOutcome,
      args: z.tuple([
        options({
          message: ref,
          paths,
          untracked: flag,
          list: flag,
          pop: which,
          apply: which,
          drop: which,
        }).optional(),
      ]),
      misnamed: { ...STATE_NAMES, ...under("stashes", HASH_NAMES), length: "stashes.length" },
      returns: more(STATE, "stashes: {commit, message, date: Date}[], dropped?"),
      examples: ['await git.stash({message: "half done", untracked: true})', "await git.stash({pop: true})"],
    }),
    fn(
      "merge",
      (env: EnvironmentView, of: string | MergeOptions, options?: MergeOptions) => merge(env, of, options),
      {
        doc: "Merges a branch or commit. Conflicts are in the result, and next says how to continue.",
        untimed: true,
        tellsFailure: true,
        action: stepWords("a merge", { doing: "merging", done: "merged", things: "branches" }),
        outcome: stateOutcome,
        args: z.tuple([
          orOptions({ continue: flag, abort: flag }).describe("ref"),
          options({ noFf: flag, ffOnly: flag, squash: flag, message: ref }).optional(),
        ]),
        misnamed: STATE_NAMES,
        returns: SEQUENCED,
        examples: ['await git.merge("fix/lines", {noFf: true})', "await git.merge({abort: true})"],
      },
    ),
    fn(
      "rebase",
      (env: EnvironmentView, of: string | RebaseOptions, options?: RebaseOptions) => rebase(env, of, options),
      {
        doc: "Moves the commits of the branch (after from) onto another one.",
        untimed: true,
        tellsFailure: true,
        action: stepWords("a rebase", { doing: "rebasing onto", done: "rebased onto", things: "branches" }),
        outcome: stateOutcome,
        args: z.tuple([
          orOptions({ onto: ref, from: ref, ...STEPS }).describe("onto"),
          options({ from: ref }).optional(),
        ]),
        misnamed: STATE_NAMES,
        returns: SEQUENCED,
        examples: ['await git.rebase("main")', "await git.rebase({continue: true})"],
      },
    ),
    fn(
      "cherryPick",
      (env: EnvironmentView, of: string | readonly string[] | PickOptions, options?: PickOptions) =>
        pickCommits(env, "cherry-pick", of, options),
      {
        doc: "Repeats commits or a range of them here.",
        untimed: true,
        tellsFailure: true,
        action: stepWords("a cherry-pick", { doing: "picking", done: "picked", things: "commits" }),
        outcome: stateOutcome,
        args: PICK,
        misnamed: STATE_NAMES,
        returns: SEQUENCED,
        examples: ['await git.cherryPick("main~2..main")'],
      },
    ),
    fn(
      "revert",
      (env: EnvironmentView, of: string | readonly string[] | PickOptions, options?: PickOptions) =>
        pickCommits(env, "revert", of, options),
      {
        doc: "Commits the opposite of commits.",
        untimed: true,
        tellsFailure: true,
        action: stepWords("a revert", { doing: "reverting", done: "reverted", things: "commits" }),
        outcome: stateOutcome,
        args: PICK,
        misnamed: STATE_NAMES,
        returns: SEQUENCED,
        examples: ['await git.revert("HEAD")'],
      },
    ),
    fn(
      "reset",
      (env: EnvironmentView, to?: string | ResetOptions, options?: ResetOptions) => reset(env, to, options),
      {
        doc:
          "Moves the branch to a commit: soft, mixed (default: files stay, nothing is staged) or hard, which refuses to " +
          "discard uncommitted changes without force.",
        untimed: true,
        action: (given?: unknown) => {
          const to = String((typeof given === "string" ? given : Object(given).to) ?? "HEAD");
          return { doing: `resetting to ${to}`, done: `reset to ${to}`, things: "times", named: 0 };
        },
        outcome: stateOutcome,
        args: z.tuple([
          orOptions({ to: ref, ...RESET }).optional().describe("to"),
          options(RESET).optional(),
        ]),
        misnamed: STATE_NAMES,
        returns: more(STATE, "was, undone, lost: string[], saved?"),
        examples: ['await git.reset("HEAD~1", {mode: "soft"})'],
      },
    ),
    fn("tag", (env: EnvironmentView, name?: string, options?: TagOptions) => tag(env, name, options), {
      doc: "Lists tags; with a name makes or deletes one.",
      untimed: true,
      ...listsWithout("tags", "tag"),
      args: z.tuple([
        ref.describe("name"),
        options({ at: ref, message: ref, delete: flag }).optional(),
      ]),
      misnamed: { ...under("tags", HASH_NAMES), all: "tags", length: "tags.length" },
      outcome: ({ signed = true }: { readonly signed?: boolean }) => signed ? "" : "not signed",
      returns: "{tags: {name, commit, date: Date, message}[], left, signed?}",
      examples: ['await git.tag("v1.2.0", {message: "The second release"})'],
    }),
    fn("fetch", (env: EnvironmentView, options?: FetchOptions) => fetchRemote(env, options), {
      doc: "Fetches branches and tags of a remote, with the user's keys, after a question; changes no file.",
      untimed: true,
      action: { doing: "fetching", done: "fetched", things: "times", named: 0 },
      outcome: ({ changed, left }: { readonly changed: readonly unknown[]; readonly left: number }) =>
        changed.length === 0 ? "nothing new" : `${counted(changed.length + left, "change")} of branches and tags`,
      args: z.tuple([options({ remote: ref, prune: flag }).optional()]),
      returns: "{remote, url, changed: {ref, was, now}[], left, next?}",
      examples: ["await git.fetch()"],
    }),
    fn("push", (env: EnvironmentView, name?: string, options?: PushOptions) => push(env, name, options), {
      doc: "Pushes the current or named branch, or a tag, with the user's keys, after a question.",
      untimed: true,
      tellsFailure: true,
      action: { doing: "pushing", done: "pushed", things: "times", named: 0 },
      outcome: ({ commits, remote, branch }: Readonly<Record<"remote" | "branch", string>> & { commits: number }) =>
        `${counted(commits, "commit")} to ${branch} of ${remote}`,
      args: z.tuple([ref.describe("name"), options({ remote: ref, to: ref, force: flag }).optional()]),
      misnamed: { ...HASH_NAMES, messages: "said" },
      returns:
        "{remote, url, branch, commit, commits: number, was, upstream?, said?: string[], skippedHooks?: string[]}",
      examples: ["await git.push()"],
    }),
    fn("gh", (env: EnvironmentView, args: readonly string[], options?: GhOptions) => gh(env, args, options), {
      doc:
        "Runs the user's gh for pull requests, issues, runs and releases of the repository, after a question; api takes a path below repos/OWNER/NAME.",
      untimed: true,
      reads: ghReads,
      action: (args?: readonly string[]) => {
        const name = Array.isArray(args) ? args.slice(0, 2).join(" ") : "";
        return { doing: `running gh ${name}`, done: `ran gh ${name}`, things: "times", named: 0 };
      },
      outcome: ({ code, url = "" }: { readonly code: number; readonly url?: string }) =>
        code === 0 ? url : { ok: false, text: `exit code ${code}` },
      args: z.tuple([z.array(z.string()).min(1).describe("args"), options({ remote: ref }).optional()]),
      misnamed: { stdout: "text", output: "text", data: "json", exitCode: "code" },
      returns: "{code, text, json?, url?, truncated?}",
      examples: ['await git.gh(["pr", "create", "--title", "Fix the parser", "--body", "Why and how"])'],
    }),
    fn("init", (env: EnvironmentView, options?: { readonly branch?: string }) => init(env, options), {
      doc: "Makes a repository of the workspace.",
      untimed: true,
      action: { doing: "making a repository", done: "made a repository", things: "times", named: 0 },
      args: z.tuple([z.strictObject({ branch: ref }).optional()]),
      misnamed: STATE_NAMES,
      returns: STATE,
    }),
  ].map((symbol) => ({
    ...symbol,
    ...NAME_FIRST.includes(symbol.name) ? { before: afterName } : {},
    // Paths already begin with the folder of the repository.
    ...symbol.action === undefined || PATHS_FIRST.includes(symbol.name) ? {} : { action: withRepo(symbol.action) },
    fn: inFolder(symbol.fn, { paths: PATHS_FIRST.includes(symbol.name) }),
  })),
});

function hasPaths(args: readonly unknown[]): boolean {
  return args.some((one) => Object(one).paths !== undefined);
}

function withRepo(action: NonNullable<FunctionOptions["action"]>) {
  return (...args: readonly unknown[]) => {
    const repo = repoOf(args);
    return {
      ...typeof action === "function" ? action(...args) : action,
      ...repo === undefined ? {} : { folder: repo },
    };
  };
}

export function hasGit(programs: readonly string[] = PROGRAMS): boolean {
  return programs.some((path) => existsSync(path));
}

const LOOK_MS = 500;
/** For a larger index (about 20,000 files), git takes too long. */
const LOOK_BYTES = 2 << 20;

async function headOf(path: string, env: EnvironmentView): Promise<string> {
  const folder = await gitFolderOf(dirname(path)).catch(() => null);
  const head = folder === null ? "" : await smallTextFile(join(folder, "HEAD"), { most: 1_000 }) ?? "";
  const [, branch] = /^ref: refs\/heads\/([\p{L}\p{N}_./+@#-]{1,100})\s*$/u.exec(head) ?? [];
  const on = branch !== undefined ? `, on branch ${branch}` : /^[0-9a-f]{40}/.test(head) ? ", on no branch" : "";
  if (on === "" || folder === null || env.depth > 0) return on;
  const index = await stat(join(folder, "index")).catch(() => null);
  if ((index?.size ?? 0) > LOOK_BYTES) return on;
  return on + await uncommittedWords(env, AbortSignal.timeout(LOOK_MS));
}

/** Returns false for a folder without HEAD, such as the empty one that Vis makes while a command runs. */
function isRepository(path: string): boolean {
  return existsSync(path) && (!Deno.statSync(path).isDirectory || existsSync(`${path}/HEAD`));
}

function logArguments([first, second, ...rest]: readonly unknown[]): unknown[] {
  if (typeof first !== "number" && typeof first !== "string") {
    return [first, second, ...rest].slice(0, second === undefined ? 1 + rest.length : undefined);
  }
  const named = typeof first === "number" ? { limit: first } : { ref: first };
  const more = typeof second === "number" ? { limit: second } : second ?? {};
  return [{ ...named, ...Object(more) }, ...rest];
}

function diffArguments(args: readonly unknown[]): unknown[] {
  const refs = args.slice(0, args.findIndex((one) => typeof one !== "string") >>> 0).map(String);
  if (refs.length === 0) return [...args];
  const staged = refs.some((one) => one === "--staged" || one === "--cached") ? { staged: true } : {};
  const plain = refs.filter((one) => !one.startsWith("--"));
  const [from, to] = plain.length === 1 ? /^([^.].*?)\.\.([^.].*)$/.exec(plain[0] ?? "")?.slice(1) ?? plain : plain;
  const [options, ...rest] = args.slice(refs.length);
  const ends = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  return [{ ...ends, ...staged, ...Object(options ?? {}) }, ...rest];
}
