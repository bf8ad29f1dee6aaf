import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { advised, someOf } from "@vis/extension";
import { Git, type GitOptions, OBEYED_PARTS, plainReason } from "./git.ts";
import { RecordReader } from "./git_output.ts";

/** A commit changes none of these parts. */
const KEPT = [...OBEYED_PARTS, "info", "gitdir", "remotes", "branches"];
/** Git would later continue such a state, and run commands that its lists name. */
const STATES = ["rebase-merge", "rebase-apply", "sequencer"];
const RAW = ["--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty"];
const REPOSITORY_MODE = "160000", REMOVED_MODE = "000000";

interface Refs {
  /** The empty text stands for no commit. */
  readonly head: string;
  /** The empty text stands for a detached HEAD. */
  readonly branch: string;
  readonly hashes: ReadonlyMap<string, string>;
}

/** Hooks change the index, objects and refs of a repository, and could also make git run programs later, outside of the
 * wall. They read a hidden file as a line of explanation, which git must not store. */
export class HookGuard {
  /** Hooks must not change these paths. */
  readonly keep: readonly string[];
  readonly #git: Git;
  readonly #missing: readonly string[];
  #index: { readonly bytes: Uint8Array<ArrayBuffer>; readonly time: Date } | null = null;
  #refs: Refs = { head: "", branch: "", hashes: new Map() };
  #base = "";
  #staged: ReadonlyMap<string, string> = new Map();

  constructor(git: Git) {
    this.#git = git;
    const { gitDir, commonDir, workspace } = git.repository, folders = [...new Set([gitDir, commonDir])];
    const paths = folders.flatMap((folder) => KEPT.map((name) => join(folder, name)));
    const states = folders.flatMap((folder) => STATES.map((name) => join(folder, name)));
    const others = namesIn(join(commonDir, "worktrees")).map((name) => join(commonDir, "worktrees", name));
    const dot = join(workspace, ".git");
    this.keep = [
      ...paths.filter(isThere),
      ...others.filter((path) => path !== gitDir),
      ...gitDir === dot ? [] : [dot],
    ];
    this.#missing = [...paths, ...states].filter((path) => !isThere(path));
  }

  /** Rejects with Error if a tracked file that hooks cannot read has changed: a hook could store or stash the line of
   * explanation instead. */
  static async begin({ env }: Git): Promise<HookGuard> {
    // The guard also ends after a cancelled call.
    const git = await Git.of(Object.create(env, { signal: { value: undefined } }));
    git.allowed();
    const guard = new HookGuard(git);
    const { mtime } = await Deno.stat(guard.#indexPath).catch(() => ({ mtime: null }));
    if (mtime !== null) guard.#index = { bytes: await Deno.readFile(guard.#indexPath), time: mtime };
    guard.#refs = await guard.#refsNow();
    guard.#base = guard.#refs.head || (await output(git, ["hash-object", "-t", "tree", "--stdin"])).trim();
    const hidden = [...await guard.#special(["diff-index", ...RAW, guard.#base])].filter(([path]) =>
      git.isSecret(path)
    );
    if (hidden.length > 0) {
      throw advised(
        new Error(
          `Cannot commit: ${
            git.places(hidden.map(([path]) => path))
          } has changes and may hold keys, so hooks cannot read it`,
        ),
        "pass {hooks: false}, or ask the user to commit",
      );
    }
    guard.#staged = await guard.#special(["diff-index", "--cached", ...RAW, guard.#base]);
    return guard;
  }

  /** Warns about lost branches. Rejects with Error if the hooks stored a repository or a file that they cannot read; the
   * index and HEAD are then as before. */
  async end(): Promise<void> {
    await this.#removeMade();
    const found = new Set<string>(), { head, hashes } = await this.#refsNow();
    this.#warnOfLost(hashes);
    const staged = ["diff-index", "--cached", ...RAW, this.#base],
      stored = ["diff-tree", "-r", ...RAW, this.#base, head];
    for (const args of head === "" ? [staged] : [staged, stored]) {
      for (const [path, entry] of await this.#special(args)) {
        if (this.#staged.get(path) !== entry) found.add(path);
      }
    }
    if (found.size === 0) return;
    await this.#restoreIndex();
    await this.#restoreHead();
    throw advised(
      new Error(
        `Cannot commit: a hook stored ${this.#git.places([...found])}, which may hold keys or is a repository; ` +
          "the index and HEAD are as before",
      ),
      "stage the file with git.add, pass {hooks: false}, or ask the user to commit",
    );
  }

  get #indexPath(): string {
    return join(this.#git.repository.gitDir, "index");
  }

  async #removeMade(): Promise<void> {
    const made = this.#missing.filter(isThere);
    for (const path of made) await Deno.remove(path, { recursive: true });
    if (made.length === 0) return;
    const names = someOf([...new Set(made.map((path) => basename(path)))]);
    this.#git.env.warn?.(`A hook of git made ${names} in .git, which could make git run programs; Vis removed it`);
  }

  #warnOfLost(now: ReadonlyMap<string, string>): void {
    const { branch, hashes } = this.#refs;
    const lost = [...hashes].filter(([name, hash]) => name !== branch && now.get(name) !== hash);
    if (lost.length === 0) return;
    const names = someOf(lost.map(([name, hash]) => `${name} (${now.has(name) ? "" : "deleted, "}it was ${hash})`));
    this.#git.env.warn?.(`While hooks of git ran, a branch or another ref changed: ${names}`);
  }

  /** Returns secret files and new repositories that differ from the commit before the hooks, with mode and hash. */
  async #special(args: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    let entry = "";
    const records = new RecordReader((record) => {
      if (record.startsWith(":")) return void (entry = record);
      const [from = "", to = "", , hash = ""] = entry.slice(1).split(" ");
      const isRepository = to === REPOSITORY_MODE && from !== REPOSITORY_MODE;
      if (to !== REMOVED_MODE && (isRepository || this.#git.isSecret(record))) found.set(record, `${to} ${hash}`);
    }, { separator: 0 });
    await output(this.#git, args, { take: (chunk) => records.push(chunk) });
    return found;
  }

  async #restoreIndex(): Promise<void> {
    const path = this.#indexPath, { uid, gid } = await Deno.stat(this.#git.repository.gitDir);
    // A hook could have made a link of the index.
    await Deno.remove(path).catch(() => {});
    if (this.#index === null) return;
    const { bytes, time } = this.#index;
    await Deno.writeFile(path, bytes, { createNew: true });
    // Git takes a file as unchanged if the index is newer than the last change of the file.
    await Deno.utime(path, time, time);
    if (Deno.uid() === 0 && uid !== null && gid !== null) await Deno.chown(path, uid, gid);
  }

  async #restoreHead(): Promise<void> {
    const change = (...args: string[]): Promise<string> => output(this.#git, args, { changes: "repository" });
    const { head, branch } = this.#refs;
    if (branch !== "") await change("symbolic-ref", "HEAD", branch);
    if (head === "") await change("update-ref", "-d", "HEAD");
    else await change("update-ref", ...branch === "" ? ["--no-deref"] : [], "HEAD", head);
  }

  async #refsNow(): Promise<Refs> {
    const hashes = new Map<string, string>();
    let branch = "";
    const records = new RecordReader((record) => {
      const [hash = "", name = ""] = record.slice(1).split(" ");
      hashes.set(name, hash);
      if (record.startsWith("*")) branch = name;
    });
    await this.#git.run(["for-each-ref", "--format=%(HEAD)%(objectname) %(refname)"], {
      take: (chunk) => records.push(chunk),
    });
    const head = hashes.get(branch);
    if (head !== undefined) return { head, branch, hashes };
    const line = async (...args: string[]): Promise<string> => (await this.#git.run(args)).stdout.trim();
    return {
      head: await line("rev-parse", "--verify", "--quiet", "HEAD"),
      branch: await line("symbolic-ref", "--quiet", "HEAD"),
      hashes,
    };
  }
}

async function output(git: Git, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await git.run(args, options);
  if (code !== 0) throw new Error(`Cannot check the commit: git ${args[0]} failed (${plainReason(stderr)})`);
  return stdout;
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
