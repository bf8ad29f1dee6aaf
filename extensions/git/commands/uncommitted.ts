/** Work that is in no commit: what a change of the workspace must not overwrite, and how it is kept if it is discarded. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { Git, type GitOptions } from "../program/git.ts";
import { plainReason } from "../program/git_error.ts";
import { RecordReader } from "../output/record_reader.ts";
import { refuseNewSecrets } from "./new_secrets.ts";
import { refusePlanted } from "./refuse_planted.ts";
import { committer, committerVariables, named } from "./state.ts";
import { type FileStatus, readStatus } from "./status.ts";

const MOST_COMMITS = 1000, MOST_FILES = 100_000;
/** The folder of Vis, which is read-only for git too. */
const OWN = ".vis";
/** Modes of git: no file, and a submodule, whose folder git leaves as it is. */
const NONE = "000000", SUBMODULE = "160000";
/** Who made the commits that only keep work, if nobody is set. */
const NOBODY = committerVariables({ name: "Vis", email: "vis@localhost" });

/** Files that a change of the workspace would bring. */
export type IncomingNames =
  /** Files of a commit, or those at its `paths`, that the index does not have. Uncommitted changes stay if it `carries`
   * them. */
  | { readonly commit: string; readonly carries?: boolean; readonly paths?: readonly string[] }
  /** Files that changed from the first to the second; `sinceFork`: since their common ancestor. */
  | { readonly from: string; readonly to: string; readonly sinceFork?: boolean }
  /** Files that each of these commits changes, or brings back if it is reverted. */
  | { readonly each: readonly string[]; readonly reverted?: boolean };

/** Throws Error before a change that would overwrite files that git does not track, ignored ones too, change the folder
 * of Vis, or bring a folder that git takes for a repository. */
export async function refuseIncoming(
  git: Git,
  { incoming, base = "HEAD", cannot }: {
    readonly incoming: readonly IncomingNames[];
    /** The commit whose files the workspace has meanwhile. */
    readonly base?: string;
    readonly cannot: string;
  },
): Promise<void> {
  const changes = await Promise.all(incoming.map((one) => changesOf(git, one)));
  refuseOwn(changes.flatMap(({ own }) => own), cannot);
  const coming = new Map(changes.flatMap(({ files }) => files));
  await refusePlanted(git, {
    commit: base,
    names: [...coming.keys()],
    modules: [...coming].flatMap(([name, mode]) => mode === SUBMODULE ? [name] : []),
    place: git.repository.workspace,
    cannot: cannot.replace(/^Cannot /, ""),
  });
  const lost = await untrackedAt(git, [...coming].flatMap(([name, mode]) => mode === SUBMODULE ? [] : [name]));
  if (lost.length === 0) return;
  throw new Error(`${cannot}: it would overwrite files that git does not track: ${named(lost)}; move or git.add them`);
}

/** Throws Error if one of these files, which a call would change, is in the folder of Vis: it is read-only, and git
 * would stop halfway. */
export function refuseOwn(names: readonly string[], cannot: string): void {
  const own = [...new Set(names.filter(isOwn))];
  if (own.length === 0) return;
  throw new Error(`${cannot}: it would change ${named(own)}, which only the user changes; ask the user to do it`);
}

function isOwn(name: string): boolean {
  return name === OWN || name.startsWith(`${OWN}/`);
}

interface Changes {
  /** Files that come, and their modes. */
  readonly files: readonly (readonly [name: string, mode: string])[];
  /** Files of the folder of Vis that would be other than in the index, or missing. */
  readonly own: readonly string[];
}

async function changesOf(git: Git, incoming: IncomingNames): Promise<Changes> {
  const files: (readonly [name: string, mode: string])[] = [];
  let own: string[] = [], modes: readonly string[] | null = null;
  // A record of modes and hashes, and one of the name.
  const take = (record: string): void => {
    if (modes === null) return void (modes = record.slice(1).split(" ", 2));
    const [before = NONE, after = NONE] = modes;
    modes = null;
    if (isOwn(record)) own.push(record);
    if (after !== NONE && (before === NONE || !("commit" in incoming))) files.push([record, after]);
  };
  const raw = ["--raw", "--no-renames", "-z"];
  if ("commit" in incoming) {
    const { commit, paths = [] } = incoming;
    await eachRecord(git, ["diff", "--cached", "-R", ...raw, commit, "--", ...paths], { take });
  } else if ("to" in incoming) {
    const { from, to, sinceFork } = incoming;
    await eachRecord(git, ["diff", ...raw, ...(sinceFork ? [`${from}...${to}`] : [from, to]), "--"], { take });
  } else if (incoming.each.length > 0) {
    const { each, reverted } = incoming;
    const args = ["diff-tree", "--stdin", "-r", "-m", "--root", "--no-commit-id", ...raw, ...(reverted ? ["-R"] : [])];
    await eachRecord(git, args, { take, input: each.map((hash) => `${hash}\n`).join("") });
  }
  const others = ["diff", "--name-only", "--no-renames", "-z"];
  const hasHead = own.length > 0 && (await git.run(["rev-parse", "--verify", "--quiet", "HEAD"])).code === 0;
  if (hasHead && "commit" in incoming && incoming.carries) { // a staged change stays
    const changed = new Set(await namesOf(git, [...others, "HEAD", incoming.commit, "--", OWN]));
    own = own.filter((name) => changed.has(name));
  } else if (hasHead && "to" in incoming) { // the same change may be here already
    const changed = new Set(await namesOf(git, [...others, "--cached", incoming.to, "--", OWN]));
    own = own.filter((name) => changed.has(name));
  }
  return { files, own };
}

async function eachRecord(
  git: Git,
  args: readonly string[],
  { take, ...options }: Pick<GitOptions, "input"> & { readonly take: (record: string) => void },
): Promise<void> {
  const reader = new RecordReader((record) => record === "" ? undefined : take(record), { separator: 0 });
  const { code, stderr } = await git.run(args, { ...options, take: (chunk) => reader.push(chunk) });
  reader.end();
  if (code !== 0) throw new Error(`Cannot read what would change: ${plainReason(stderr)}`);
}

async function namesOf(git: Git, args: readonly string[]): Promise<readonly string[]> {
  const names: string[] = [];
  await eachRecord(git, args, { take: (name) => void names.push(name) });
  return names;
}

/** Files and links on the disk, where files with these names would be, that the index does not have. */
async function untrackedAt(git: Git, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const tracked = new Set(await namesOf(git, ["ls-files", "-z"]));
  const kinds = new Map<string, "folder" | "file" | null>();
  const kindOf = (path: string): "folder" | "file" | null => {
    const known = kinds.get(path);
    if (known !== undefined) return known;
    const info = lstatSync(join(git.repository.workspace, path), { throwIfNoEntry: false });
    const kind = info === undefined ? null : info.isDirectory() ? "folder" : "file";
    kinds.set(path, kind);
    return kind;
  };
  const found = new Set<string>(), folders = new Set<string>();
  for (const name of names) {
    const way = name.split("/");
    for (let at = 1; at <= way.length; at++) {
      const path = way.slice(0, at).join("/"), kind = kindOf(path);
      if (kind === "file" && !tracked.has(path)) found.add(path);
      if (kind === "folder" && at === way.length) folders.add(path);
      if (kind !== "folder") break;
    }
  }
  if (folders.size > 0) {
    const inside = await namesOf(git, ["ls-files", "--others", "-z", "--", ...[...folders].slice(0, MOST_COMMITS)]);
    for (const path of inside) found.add(path);
  }
  return [...found];
}

/** The hashes of a range, the oldest first. */
export async function commitsIn(
  git: Git,
  { range, cannot }: { readonly range: string; readonly cannot: string },
): Promise<readonly string[]> {
  const limit = `--max-count=${MOST_COMMITS + 1}`;
  const { code, stdout, stderr } = await git.run(["rev-list", "--reverse", limit, "--end-of-options", range, "--"]);
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
  const hashes = stdout.split("\n").filter((line) => line !== "");
  if (hashes.length > MOST_COMMITS) throw new Error(`${cannot}: these are over ${MOST_COMMITS} commits`);
  return hashes;
}

/** Changed files that git tracks. */
export async function uncommitted(git: Git, paths?: string | readonly string[]): Promise<readonly FileStatus[]> {
  const { files } = await readStatus(git, { limit: MOST_FILES, ...(paths === undefined ? {} : { paths }) });
  return files.filter(({ untracked }) => !untracked);
}

/** Keeps the uncommitted changes of tracked files in a commit of no branch, in the form of a stash, and returns its
 * hash; undefined if there are none. Throws Error if they cannot be kept. */
export async function saveWork(
  git: Git,
  { files, secrets, cannot }: {
    readonly files: readonly FileStatus[];
    readonly secrets: readonly string[] | undefined;
    readonly cannot: string;
  },
): Promise<string | undefined> {
  if (files.length === 0) return undefined;
  await refuseNewSecrets(git, { paths: files.map(({ path }) => path), secrets, cannot });
  const env = await committer(git).catch(() => NOBODY);
  const make = async (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { code, stdout, stderr } = await git.run(args, { changes: "repository", env: { ...env, ...more } });
    if (code !== 0) throw new Error(`${cannot}: uncommitted changes cannot be kept: ${plainReason(stderr)}`);
    return stdout.trim();
  };
  const message = "Uncommitted changes, kept before they were discarded";
  if (!files.some(({ conflict }) => conflict)) return await make(["stash", "create", message]) || undefined;
  // The index has conflicts, of which git makes no stash.
  const index = join(git.repository.gitDir, `index.kept-${crypto.randomUUID()}`);
  const kept = { GIT_INDEX_FILE: index };
  try {
    await make(["read-tree", "HEAD"], kept);
    const base = await make(["commit-tree", "-p", "HEAD", "-m", message, "HEAD^{tree}"]);
    await make(["add", "--update", "--", "."], kept);
    const tree = await make(["write-tree"], kept);
    return await make(["commit-tree", "-p", "HEAD", "-p", base, "-m", message, tree]);
  } finally {
    await Deno.remove(index).catch(() => {});
  }
}
