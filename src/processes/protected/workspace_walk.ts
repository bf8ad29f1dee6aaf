import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { Pace } from "../../domain/kit/concurrency.ts";
import { isSha256 } from "../../domain/kit/git_config.ts";
import { isSecretFile, patternsFromTop } from "../../domain/kit/names.ts";
import { entryKind, stepsTo } from "../_paths.ts";
import { isPlaceholder } from "./placeholders.ts";
import { GIT, GitIndexes, isBare, ownSettings, repositoryFolders } from "./repositories.ts";
import { isWithin, openPlainFile } from "../../domain/kit/files.ts";
import { type EntryFacts, entryFacts, folderEntries } from "../folder_entries.ts";
import type { HiddenFile } from "../../sandbox/exec/confinement_plan.ts";

const MOST_NEAR = 2_000, MOST_FOLDERS = 200_000;
/** A program can make a million names in seconds, so the walk has a limit. */
const MOST_NAMES = 5_000_000;
const AT_ONCE = 500;
const MOST_WORKSPACES = 16;
const MOST_HIDDEN = 500, MOST_SECRETS = 5_000, MOST_REPOSITORIES = 2_000;
const MOST_FOUND = 20_000;
/** In repositories' own folders and packages, a full walk looks only for repositories, closed folders and moved secret
 * files. Other walks skip these folders. */
const PASSED = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"]);
const MOST_HASHED = 1 << 20;
const OWNER_READS = 0o400, OWNER_ENTERS = 0o100;

interface KnownFolder {
  readonly stamp: string | null;
  readonly folders: readonly string[];
  readonly secrets: readonly string[];
  readonly isTop: boolean;
  readonly isClosed: boolean;
}

export interface SpecialFiles {
  readonly secrets: ReadonlyMap<string, HeldFile>;
  readonly repositories: readonly string[];
  /** The modes of these folders prevent the user from listing them or opening their entries. */
  readonly closed: readonly string[];
  readonly isWhole: boolean;
}

type Walked = Omit<SpecialFiles, "secrets"> & { readonly secrets: readonly string[] };

export class WorkspaceWalk {
  readonly #patterns: readonly string[];
  readonly #wanted: (first: number, last: number) => boolean;
  readonly #indexes = new GitIndexes();
  readonly #known = new BoundedMap<string, Map<string, KnownFolder>>(MOST_WORKSPACES);
  readonly #found = new BoundedMap<string, SpecialFiles>(MOST_WORKSPACES);

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
    this.#wanted = byteCheck(patterns);
  }

  /** Paths of the result are relative to `root`. `running` is a command that can move files meanwhile. In an added
   * folder, patterns with `/` mean absolute paths. */
  async look(
    root: string,
    { workspace = root, running = null, isAdded = false }: {
      readonly workspace?: string;
      readonly running?: string | null;
      readonly isAdded?: boolean;
    } = {},
  ): Promise<SpecialFiles> {
    const patterns = patternsFromTop(this.#patterns, relative(root, workspace));
    const isSecret = (path: string): boolean => isSecretFile(isAdded ? join(root, path) : path, patterns);
    const key = isAdded ? `${root}\0` : patterns === this.#patterns ? root : `${root}\0${workspace}`;
    const before = this.#found.get(key);
    const held = before?.secrets ?? new Map<string, HeldFile>(), pace = new Pace();
    // A command may have moved a folder to a place outside the search, even during this look.
    let now: Walked, secrets: Map<string, HeldFile>, isFull = before === undefined, moved = new Set<string>();
    do {
      isFull ||= moved.size > 0;
      now = await this.#walk(root, { key, isSecret, isFull, moved });
      secrets = new Map();
      const found = new Set<string>();
      for (const path of new Set([...now.secrets, ...isFull ? [] : held.keys()])) {
        if (pace.due) await pace.rest();
        const facts = entryFacts(join(root, path)), file = held.get(path);
        if (facts === null) continue;
        const options = { opens: secrets.size < MOST_HIDDEN };
        secrets.set(path, file?.facts.id === facts.id ? file : new HeldFile(join(root, path), facts, options));
        found.add(facts.id);
      }
      moved = new Set(
        held.values().filter(({ facts, isThere }) => !found.has(facts.id) && isThere).map(({ facts }) => facts.id),
      );
    } while (moved.size > 0 && !isFull);
    if (moved.size > 0 && running !== null) {
      const [path = ""] = [...held].find(([, { facts }]) => moved.has(facts.id)) ?? [];
      throw new Error(
        `Cannot run commands: ${path}, which may hold keys, is no longer there, and ${running} may have moved it; ` +
          "stop that command first",
      );
    }
    const all = isFull ? now : before ?? now;
    const still = async (folders: readonly string[], is: (folder: string) => boolean): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const folder of new Set(folders)) {
        if (pace.due) await pace.rest();
        if (is(folder)) found.push(folder);
      }
      return found;
    };
    const found: SpecialFiles = {
      secrets,
      repositories: await still(
        ["", ...now.repositories, ...all.repositories],
        (folder) => isTop(join(root, folder)) || !folder.isWellFormed(),
      ),
      closed: await still(
        [...now.closed, ...all.closed],
        (folder) => isClosed(entryFacts(join(root, folder))),
      ),
      isWhole: all.isWhole,
    };
    this.#found.set(key, found);
    refuseOdd(found.repositories, "the repository");
    if (found.repositories.length > MOST_REPOSITORIES) {
      throw new Error(
        `Cannot run commands: ${root} has ${found.repositories.length} repositories, more than the limit ` +
          `of ${MOST_REPOSITORIES}; start Vis in a folder with fewer`,
      );
    }
    return found;
  }

  /** A hidden file looks changed to git, so a file of at most `MOST_HASHED` bytes whose text is in the index stays
   * readable. */
  async secrets(workspace: string, { secrets, closed, isWhole }: SpecialFiles): Promise<readonly HiddenFile[]> {
    if (this.#patterns.length === 0) return [];
    const advice = "; start Vis in a folder with fewer files, or change the setting secrets";
    if (!isWhole) {
      throw new Error(
        `Cannot run commands: the search for files that may hold keys in ${workspace} reached a limit ` +
          `(${MOST_FOLDERS} folders, ${MOST_NAMES} names or ${MOST_FOUND} unreadable folders)${advice}`,
      );
    }
    refuseOdd([...secrets.keys()], "the secret file");
    const open = closed.find((folder) => ((entryFacts(join(workspace, folder))?.mode ?? 0) & OWNER_ENTERS) !== 0);
    if (open !== undefined) {
      throw new Error(
        `Cannot run commands: they could read files in ${open}, where Vis cannot look for keys; run chmod u+r ${open}`,
      );
    }
    const tooMany = (count: number, limit: string): Error =>
      new Error(
        `Cannot run commands: ${count < MOST_FOUND ? count : `at least ${count}`} files may hold keys, and Vis ` +
          `can ${limit}; change the setting secrets`,
      );
    if (secrets.size > MOST_SECRETS) throw tooMany(secrets.size, `check at most ${MOST_SECRETS} of them`);
    const untracked = secrets.size === 0 ? [] : await this.#withoutTracked(workspace, secrets);
    const hidden = new Map<string, bigint>(), pace = new Pace();
    for (const [path, { facts: { isFile, inode } }] of untracked) {
      if (pace.due) await pace.rest();
      if (isFile) hidden.set(join(workspace, path), inode);
      else for (const real of realFile(workspace, path)) hidden.set(real, entryFacts(real)?.inode ?? 0n);
    }
    if (hidden.size > MOST_HIDDEN) throw tooMany(hidden.size, `hide at most ${MOST_HIDDEN}`);
    return [...hidden].map(([path, inode]) => ({ path, inode }));
  }

  /** A command can add a hidden file with another text to the index, so the hash must match the text of the file. */
  async #withoutTracked(
    workspace: string,
    secrets: SpecialFiles["secrets"],
  ): Promise<readonly (readonly [path: string, file: HeldFile])[]> {
    const folders = await repositoryFolders(workspace);
    if (folders === null) return [...secrets];
    const sha256 = isSha256((await ownSettings(folders, "/")).settings), files = [...secrets.keys()];
    const { hashes } = await this.#indexes.read(join(folders.gitDir, "index"), { sha256, files });
    const untracked: (readonly [path: string, file: HeldFile])[] = [];
    for (const [path, file] of secrets) {
      const hash = hashes.get(path);
      if (hash === undefined || !hasText(join(workspace, path), file, hash)) untracked.push([path, file]);
    }
    return untracked;
  }

  async #walk(
    workspace: string,
    { key, isSecret, isFull, moved }: {
      readonly key: string;
      readonly isSecret: (path: string) => boolean;
      readonly isFull: boolean;
      /** The walk finds these moved secret files even among packages, where other certificates are not secret. */
      readonly moved: ReadonlySet<string>;
    },
  ): Promise<Walked> {
    const before = this.#known.get(key);
    const near = new Map<string, KnownFolder>();
    const most = isFull ? MOST_FOLDERS : MOST_NEAR;
    const secrets: string[] = [], repositories: string[] = [], closed: string[] = [];
    const open = [""], count = { names: 0 }, pace = new Pace();
    let at = 0;
    for (; at < open.length && at < most && count.names < MOST_NAMES; at++) {
      if (pace.due) await pace.rest();
      const folder = open[at] ?? "";
      open[at] = "";
      const facts = entryFacts(placed(workspace, folder));
      if (!facts?.isFolder) continue;
      const known = before?.get(folder);
      const current = known?.stamp === facts.stamp
        ? known
        : await this.#read(workspace, { folder, facts, isSecret, count, pace });
      const isPassed = folder.split("/").some((name) => PASSED.has(name));
      if (!isPassed && near.size < MOST_NEAR) near.set(folder, current);
      for (const path of current.folders) {
        if (isFull || !PASSED.has(path.slice(path.lastIndexOf("/") + 1))) open.push(path);
      }
      for (const path of !isPassed || moved.size > 0 ? current.secrets : []) {
        if (pace.due) await pace.rest();
        if (secrets.length === MOST_FOUND) break;
        if (!isPassed || moved.has(entryFacts(join(workspace, path))?.id ?? "")) secrets.push(path);
      }
      if (current.isTop && repositories.length < MOST_FOUND) repositories.push(folder);
      if (current.isClosed && closed.length < MOST_FOUND) closed.push(folder);
    }
    this.#known.set(key, near);
    return { secrets, repositories, closed, isWhole: at >= open.length && closed.length < MOST_FOUND };
  }

  async #read(
    workspace: string,
    { folder, facts, isSecret, count, pace }: {
      readonly folder: string;
      readonly facts: EntryFacts;
      readonly isSecret: (path: string) => boolean;
      readonly count: { names: number };
      readonly pace: Pace;
    },
  ): Promise<KnownFolder> {
    const folders: string[] = [], secrets: string[] = [], parts = new Set<string>();
    const below = folder === "" ? "" : `${folder}/`;
    const path = placed(workspace, folder);
    const most = MOST_NAMES - count.names;
    for (const { name, isFolder } of folderEntries(path, { most, wanted: this.#wanted, beat: AT_ONCE })) {
      if (name === "") {
        count.names += AT_ONCE;
        if (pace.due) await pace.rest();
        continue;
      }
      if (name === GIT || OF_BARE.includes(name)) parts.add(name);
      if (isFolder) folders.push(below + name);
      else if (isSecret(below + name)) secrets.push(below + name);
    }
    const isElsewhere = parts.has("commondir") && !folder.split("/").includes(GIT);
    const isBare = parts.has("HEAD") && (isElsewhere || parts.has("objects") && parts.has("refs")) &&
      basename(folder) !== GIT;
    const stamp = facts.isFresh ? null : facts.stamp;
    return { stamp, folders, secrets, isTop: parts.has(GIT) || isBare, isClosed: isClosed(facts) };
  }
}

function placed(workspace: string, folder: string): string {
  return folder === "" ? workspace : `${workspace}/${folder}`;
}

const OF_BARE = ["HEAD", "commondir", "objects", "refs"];

function byteCheck(patterns: readonly string[]): (first: number, last: number) => boolean {
  const wanted = patterns.filter((one) => !one.startsWith("!"));
  if (wanted.some((one) => !/^(?!\*(?:.*\*)?$)[\x20-\x2e\x30-\x7e]+$/.test(one))) return () => true;
  const codes = (char = ""): number[] => [char.toLowerCase().charCodeAt(0), char.toUpperCase().charCodeAt(0)];
  const table = (all: readonly number[]): readonly boolean[] =>
    Array.from({ length: 256 }, (_, at) => all.includes(at));
  const firsts = table(wanted.flatMap((one) => codes(one[0])));
  const lasts = table(wanted.flatMap((one) => codes(one.at(-1))));
  const isOfGit = (first: number, last: number): boolean =>
    first === 46 && last === 116 || first === 72 && last === 68 || first === 99 && last === 114;
  return (first, last) => firsts[first] || lasts[last] || isOfGit(first, last);
}

/** An open file keeps its identity, so no other file can reuse the identity. The number of open files is limited, so
 * not every file is open. */
class HeldFile {
  static readonly #closing = new FinalizationRegistry<number>((file) => closeSync(file));
  readonly facts: EntryFacts;
  readonly #file: number | null;

  constructor(path: string, facts: EntryFacts, { opens }: { readonly opens: boolean }) {
    this.facts = facts;
    this.#file = opens && facts.isFile ? openPlainFile(path) : null;
    if (this.#file !== null) HeldFile.#closing.register(this, this.#file);
  }

  /** Returns true only for a regular file that still has a name. A process can have a file open whose name is gone. */
  get isThere(): boolean {
    return this.facts.isFile && (this.#file === null || fstatSync(this.#file).nlink !== 0);
  }
}

function isTop(folder: string): boolean {
  const dot = join(folder, GIT), kind = entryKind(dot);
  return kind !== null && (kind === "link" || !isPlaceholder(dot)) || isBare(folder);
}

/** A command could open only a folder of its own user by a change of the mode. The mode does not stop root. */
function isClosed(facts: EntryFacts | null): boolean {
  const { isFolder = false, user = 0, mode = 0 } = facts ?? {};
  const all = OWNER_READS | OWNER_ENTERS;
  return isFolder && user !== 0 && user === Deno.uid() && (mode & all) !== all;
}

function refuseOdd(paths: readonly string[], kind: string): void {
  const odd = paths.find((path) => !path.isWellFormed());
  if (odd === undefined) return;
  throw new Error(
    `Cannot run commands: ${kind} ${odd.toWellFormed()} has a name that is not UTF-8, so Vis cannot ` +
      "protect it; change the name",
  );
}

export function topsOf(workspace: string, { repositories }: SpecialFiles): readonly string[] {
  const around: string[] = [];
  for (let at = dirname(workspace); at !== dirname(at); at = dirname(at)) if (isTop(at)) around.push(at);
  return [...around, ...repositories.map((folder) => join(workspace, folder))];
}

/** Some hidden files have a secret name only by a link. If such a link or file changed, a later command could read the
 * file. */
export function linkedSecrets(
  workspace: string,
  { secrets, hidden }: Pick<SpecialFiles, "secrets"> & { readonly hidden: readonly HiddenFile[] },
): readonly string[] {
  const names = [...secrets.keys()], known = new Set(names.map((path) => join(workspace, path)));
  const links = names.filter((path) => entryKind(join(workspace, path)) === "link");
  return links.flatMap((path) => {
    const named = join(workspace, path), [real] = realFile(workspace, path);
    if (real === undefined || known.has(real) || !hidden.some((one) => one.path === real)) return [];
    return [...[...stepsTo(named)].flatMap((step) => step.is === "link" ? [step.path] : []), real];
  });
}

function realFile(workspace: string, path: string): string[] {
  try {
    const real = Deno.realPathSync(join(workspace, path));
    return isWithin(real, workspace) && Deno.statSync(real).isFile ? [real] : [];
  } catch {
    return [];
  }
}

function hasText(path: string, { facts }: HeldFile, hash: Uint8Array): boolean {
  const file = openPlainFile(path);
  if (file === null) return false;
  let bytes: Uint8Array;
  try {
    const { ino, size } = fstatSync(file);
    if (ino !== Number(facts.inode) || size > MOST_HASHED) return false;
    bytes = new Uint8Array(size);
    bytes = bytes.subarray(0, readSync(file, bytes, 0, size, 0));
  } finally {
    closeSync(file);
  }
  const kind = hash.length === 20 ? "sha1" : "sha256";
  return createHash(kind).update(`blob ${bytes.length}\0`).update(bytes).digest().equals(hash);
}
