import { join, relative } from "node:path";
import { folderNames, removeTree, TooManyNames } from "./folders.ts";
import { type FileImage, readFileImage, sameImage, writeImage } from "./_file_image.ts";

/** Files that other programs later run or obey, unconfined: no command may change them. */
const OWN = ".vis";
const IN_GIT = ["config", "config.worktree", "commondir", "hooks", "info/attributes"];
/** For submodules and worktrees, which have their own repositories below these folders. */
const NESTED = ["modules", "worktrees"];
const NESTED_DEPTH = 4;
const NOT_REPOSITORIES = new Set(["objects", "refs", "logs", "hooks", "info"]);
/** Files that git itself creates for a new worktree and removes with one. */
const OF_WORKTREE = /^(\.git\/worktrees\/[^/]+)\/([^/]+)$/;
const TO_COMMON = "../..\n";
/** Names in one of these folders; a repository with more of them is refused. */
const MOST_NESTED = 2_000;
const ROOM = { files: 5000, bytes: 32 << 20 };

/** State of the guarded files of one workspace before a command, restored after it. A path wall can open a folder, but
 * cannot close part of it again. */
export class GuardedFiles {
  readonly #workspace: string;
  readonly #git: "folder" | "other" | null;
  /** `.git` as a whole if it is not a folder. */
  readonly #gitImage: FileImage;
  readonly #images: ReadonlyMap<string, FileImage>;

  protected constructor(
    workspace: string,
    state: { git: "folder" | "other" | null; gitImage: FileImage; images: ReadonlyMap<string, FileImage> },
  ) {
    this.#workspace = workspace;
    this.#git = state.git;
    this.#gitImage = state.gitImage;
    this.#images = state.images;
  }

  /** Throws RangeError if there is more than can be kept. */
  static async read(workspace: string): Promise<GuardedFiles> {
    const git = await kindOf(join(workspace, ".git"));
    const room = { ...ROOM };
    const images = new Map<string, FileImage>();
    for (const path of await guardedPaths(workspace)) images.set(path, await imageOf(workspace, path, room));
    const gitImage = git === "other" ? await readFileImage(join(workspace, ".git"), room) : null;
    return new GuardedFiles(workspace, { git, gitImage, images });
  }

  /** A text that differs once anything here has changed; cheaper than reading everything. */
  async stamp(): Promise<string> {
    const paths = [".git", ...await guardedPaths(this.#workspace)];
    const stamps = await Promise.all(
      paths.map((path) => stampOf(join(this.#workspace, path), { deep: path !== ".git" })),
    );
    return paths.map((path, at) => `${path} ${stamps[at]}`).join("\n");
  }

  /** Restores what has changed and returns the paths. */
  async restore(): Promise<readonly string[]> {
    const changed: string[] = [];
    const git = join(this.#workspace, ".git");
    const now = await kindOf(git);
    if (now === "other" || this.#git === "other") {
      const room = { files: 1e6, bytes: 1e9 };
      if (now === "folder" || !sameImage(this.#gitImage, await readFileImage(git, room).catch(() => null))) {
        await writeImage(git, this.#gitImage);
        changed.push(".git");
      }
    }
    for (const path of new Set([...this.#images.keys(), ...await this.#guardedPaths()])) {
      if (path !== OWN && await kindOf(git) !== "folder") continue;
      if (await this.#restorePath(path)) changed.push(path);
    }
    return changed.sort();
  }

  /** If a command made more than there may be, all that was not there before is removed. */
  async #guardedPaths(): Promise<readonly string[]> {
    for (;;) {
      try {
        return await guardedPaths(this.#workspace);
      } catch (error) {
        if (!(error instanceof TooManyNames)) throw error;
        const inside = relative(this.#workspace, error.folder);
        const isNew = (name: string): boolean => !this.#images.has(`${inside}/${name}/${IN_GIT[0]}`);
        const made = (await folderNames(error.folder, Infinity)).filter(isNew);
        if (made.length === 0) throw error;
        for (const name of made) await removeTree(join(error.folder, name));
      }
    }
  }

  async #restorePath(path: string): Promise<boolean> {
    const before = this.#images.get(path) ?? null;
    // If it is now larger than can be kept, it has changed.
    const after = await imageOf(this.#workspace, path, { ...ROOM }).catch(() => undefined);
    if (await this.#isOfWorktree(path, { before, after })) return false;
    const parents = path.split("/").slice(0, -1);
    const blocked = await blockingParent(this.#workspace, parents);
    if (blocked === null && after !== undefined && sameImage(before, after)) return false;
    if (blocked !== null) await Deno.remove(join(this.#workspace, blocked));
    if (before !== null) await Deno.mkdir(join(this.#workspace, ...parents), { recursive: true });
    if (before !== null || after !== null) await writeImage(join(this.#workspace, path), before);
    return true;
  }

  /** A worktree that was removed as a whole, or the file of a new one that locates its repository. */
  async #isOfWorktree(
    path: string,
    { before, after }: { readonly before: FileImage; readonly after: FileImage | undefined },
  ): Promise<boolean> {
    const [, folder, name] = OF_WORKTREE.exec(path) ?? [];
    if (folder === undefined || after === undefined) return false;
    if (after === null) return await kindOf(join(this.#workspace, folder)) === null;
    return before === null && name === "commondir" && after.kind === "file" &&
      new TextDecoder().decode(after.bytes) === TO_COMMON;
  }
}

/** No program can set the change time (ctime) of a file. */
async function stampOf(path: string, { deep }: { readonly deep: boolean }): Promise<string> {
  const info = await Deno.lstat(path).catch(() => null);
  if (info === null) return "-";
  // Changes within `.git` itself are frequent and irrelevant: only its identity and kind count.
  if (!deep) return `${info.ino} ${info.isDirectory}`;
  const own = [info.ino, info.mode, info.size, info.ctime?.getTime(), info.mtime?.getTime()].join();
  if (!info.isDirectory) return own;
  let names: string[] = [];
  try {
    names = await folderNames(path, ROOM.files);
  } catch (error) {
    if (error instanceof TooManyNames) return `${own} many`; // more than there may be
  }
  const inner = await Promise.all(names.sort().map((name) => stampOf(join(path, name), { deep })));
  return `${own}(${inner.join(";")})`;
}

async function guardedPaths(workspace: string): Promise<string[]> {
  const paths = [OWN, ...IN_GIT.map((name) => `.git/${name}`)];
  const visit = async (folder: string, depth: number): Promise<void> => {
    if (depth > NESTED_DEPTH || await kindOf(join(workspace, folder)) !== "folder") return;
    for (const name of await folderNames(join(workspace, folder), MOST_NESTED)) {
      if (NOT_REPOSITORIES.has(name) || await kindOf(join(workspace, folder, name)) !== "folder") continue;
      paths.push(...IN_GIT.map((inner) => `${folder}/${name}/${inner}`));
      await visit(`${folder}/${name}`, depth + 1);
    }
  };
  if (await kindOf(join(workspace, ".git")) === "folder") {
    for (const name of NESTED) await visit(`.git/${name}`, 1);
  }
  return paths;
}

/** Reads nothing behind a link, since that is another location. */
async function imageOf(workspace: string, path: string, room: { files: number; bytes: number }): Promise<FileImage> {
  if (await blockingParent(workspace, path.split("/").slice(0, -1)) !== null) return null;
  return await readFileImage(join(workspace, path), room);
}

/** The first of these folders that is something else; null if all are folders or absent. */
async function blockingParent(workspace: string, folders: readonly string[]): Promise<string | null> {
  for (let depth = 1; depth <= folders.length; depth++) {
    const path = folders.slice(0, depth).join("/");
    if (await kindOf(join(workspace, path)) === "other") return path;
  }
  return null;
}

async function kindOf(path: string): Promise<"folder" | "other" | null> {
  const info = await Deno.lstat(path).catch(() => null);
  return info === null ? null : info.isDirectory ? "folder" : "other";
}
