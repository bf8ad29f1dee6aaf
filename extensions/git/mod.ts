import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import { add } from "./commands/add.ts";
import { blame, type BlameOptions } from "./commands/blame.ts";
import { type BranchOptions, changeBranch, listBranches } from "./commands/branch.ts";
import { commit, type CommitOptions } from "./commands/commit.ts";
import { diff, type DiffOptions } from "./commands/diff.ts";
import live from "./live.ts";
import { log, type LogOptions } from "./commands/log.ts";
import settings from "./program/settings.ts";
import { show, type ShowOptions } from "./commands/show.ts";
import { status, type StatusOptions } from "./commands/status.ts";
import { changeWorktree, listWorktrees, type WorktreeOptions } from "./commands/worktree.ts";

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
const COMMIT = "{hash, short, parents, author: {name, email, date: Date}, committer?, refs?, subject, body?}";
const BRANCHES =
  "{current: string|null, branches: {name, hash, subject, date: Date, current?, upstream?, track?}[], left}";
const WORKTREES = "{path, hash, branch, gone?, locked?}[]";

export default defineExtension({
  namespace: "vis.git",
  alias: { ns: "vis.ext.git", alias: "git" },
  doc: "The repository of the workspace, as data; it runs no hook, filter or other program of the repository.",
  group: "workspace",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  config: settings,
  activate: live.activate,
  prompt: live.prompt,
  shown: 0,
  doctor: async (context) => (await import("./doctor.ts")).checkGit(context),
  symbols: [
    fn("status", (env: EnvironmentView, options?: StatusOptions) => status(env, options), {
      doc: "Branch and changed files; all names the files of new folders one by one.",
      untimed: true,
      reads: true,
      action: { doing: "reading git status", done: "read git status", things: "times", named: 0 },
      args: z.tuple([z.strictObject({ paths, all: flag, limit: count(100_000) }).optional()]),
      returns:
        "{branch, commit, upstream?, ahead?, behind?, during?, files: {path, from?, staged?, changed?, untracked?, conflict?, submodule?}[], count: {staged, changed, untracked, conflicts}, left}",
      examples: ["(await git.status()).files.map(f => f.path)"],
    }),
    fn("diff", (env: EnvironmentView, options?: DiffOptions) => diff(env, options), {
      doc:
        "Changes of the workspace against the index, the last commit (staged), or from another; or from one to another.",
      untimed: true,
      reads: true,
      action: { doing: "reading git diff", done: "read git diff", things: "times", named: 0 },
      args: z.tuple([
        z.strictObject({ from: ref, to: ref, staged: flag, paths, context, maxChars }).optional(),
      ]),
      returns: DIFF,
      examples: ['await git.diff({from: "main"})', 'await git.diff({staged: true, paths: "src"})'],
    }),
    fn("log", (env: EnvironmentView, options?: LogOptions) => log(env, options), {
      doc: "Commits, the newest first; ref may be a range; left counts older ones.",
      untimed: true,
      reads: true,
      action: { doing: "reading git log", done: "read git log", things: "times", named: 0 },
      args: z.tuple([
        z.strictObject({
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
      returns: `{commits: ${COMMIT}[], left}`,
      examples: ['await git.log({ref: "main..HEAD", limit: 20})', 'await git.log({paths: "src/app.ts"})'],
    }),
    fn("show", (env: EnvironmentView, name?: string, options?: ShowOptions) => show(env, name, options), {
      doc: "A commit with its changes, or a file, folder or tag: HEAD~2, HEAD:src/app.ts.",
      untimed: true,
      reads: true,
      action: { doing: "reading commit", done: "read", things: "commits" },
      args: z.tuple([ref.describe("ref"), z.strictObject({ context, maxChars }).optional()]),
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
        z.strictObject({ ref, from: count(10_000_000), to: count(10_000_000) }).optional(),
      ]),
      returns: "{origins: {from, to, hash: string|null, author, date: Date, subject, path?, text}[], left}",
      examples: ['await git.blame("src/app.ts", {from: 10, to: 30})'],
    }),
    fn("add", (env: EnvironmentView, of: string | readonly string[]) => add(env, of), {
      doc: "Takes what is new, changed or gone below the paths into the next commit.",
      untimed: true,
      action: { doing: "staging", done: "staged", things: "files" },
      args: z.tuple([pathList.describe("paths")]),
      returns: "{files: {path, change}[], left}",
      examples: ['await git.add(["src/app.ts", "docs"])'],
    }),
    fn("commit", (env: EnvironmentView, message: string, options?: CommitOptions) => commit(env, message, options), {
      doc: "Commits what is staged; all: what changed of known files; paths: these files only. No hook runs.",
      untimed: true,
      action: { doing: "committing", done: "committed", things: "times" },
      args: z.tuple([
        text.describe("message"),
        z.strictObject({ all: flag, paths, amend: flag, allowEmpty: flag }).optional(),
      ]),
      returns: `${COMMIT.slice(0, -1)}, files, added, deleted}`,
      examples: ['await git.commit("fix: count lines once")'],
    }),
    fn(
      "branch",
      (env: EnvironmentView, name?: string, options?: BranchOptions) =>
        name === undefined ? listBranches(env) : changeBranch(env, name, options),
      {
        doc: "Lists branches; with a name makes, deletes, or goes to (switch) one.",
        untimed: true,
        args: z.tuple([
          ref.describe("name"),
          z.strictObject({ from: ref, switch: flag, delete: flag, force: flag }).optional(),
        ]),
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
        args: z.tuple([
          ref.describe("path"),
          z.strictObject({ branch: ref, from: ref, remove: flag, force: flag }).optional(),
        ]),
        returns: WORKTREES,
        examples: ['await git.worktree(".worktrees/try", {branch: "try"})'],
      },
    ),
  ],
});
