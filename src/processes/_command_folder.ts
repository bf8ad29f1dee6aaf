import { tmpdir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { unrefTimer } from "../domain/kit/concurrency.ts";
import { isWithin } from "../domain/kit/files.ts";
import { userGitSettings } from "../domain/kit/git_config.ts";
import { leftFolders, lockFolder } from "../sandbox/launch.ts";
import { realPathOf } from "./_paths.ts";
import { removeTree, TooMuchToRemove } from "./folder_entries.ts";

const PREFIX = "vis-command-";
/** With `removeLarge`, another process removes a folder with more names than this, because this process would block. */
const MOST_REMOVED = 20_000;
const MOST_SWEPT = 20;
const MOST_WRITTEN = 1_000;
/** The sweep waits, so that it does not compete with the first program. */
const SWEEP_AFTER_MS = 1_000;

interface CommandFolderOptions {
  readonly root?: string | undefined;
  readonly removeLarge?: ((path: string) => Promise<void>) | undefined;
}

export class CommandFolder {
  static readonly #swept = new Set<string>();

  readonly path: string;
  readonly #lock: Deno.FsFile | null;
  readonly #options: CommandFolderOptions;
  readonly #own = new Map<string, string>();

  constructor(path: string, options: CommandFolderOptions) {
    this.path = path;
    this.#lock = lockFolder(path);
    this.#options = options;
  }

  /** The first call for a `root` schedules the removal of up to `MOST_SWEPT` folders that killed processes left in
   * `root`. */
  static make(options: CommandFolderOptions = {}): CommandFolder {
    const root = resolve(options.root ?? tmpdir());
    const path = Deno.realPathSync(Deno.makeTempDirSync({ dir: root, prefix: `${PREFIX}${Deno.pid}-` }));
    const folder = new CommandFolder(path, options);
    if (CommandFolder.#swept.has(root)) return folder;
    CommandFolder.#swept.add(root);
    const later = setTimeout(() => void CommandFolder.sweep({ ...options, root }), SWEEP_AFTER_MS);
    unrefTimer(later);
    return folder;
  }

  static async sweep({ root = tmpdir(), removeLarge }: CommandFolderOptions): Promise<void> {
    let count = 0;
    for await (const path of leftFolders(root, PREFIX)) {
      if (++count > MOST_SWEPT) return;
      await removed(path, { removeLarge, waits: true }).catch(() => {});
    }
  }

  /** A later call of `written` leaves out the present entries, unless a program changes them. */
  async begin(): Promise<void> {
    for (const { name } of Deno.readDirSync(this.path)) this.#own.set(name, await this.#stamp(name));
  }

  async written(): Promise<readonly string[]> {
    const names: string[] = [];
    try {
      for await (const { name } of Deno.readDir(this.path)) {
        if (this.#own.has(name) && this.#own.get(name) === await this.#stamp(name)) continue;
        if (names.push(name) === MOST_WRITTEN) break;
      }
    } catch {
      return []; // A program may have closed the folder.
    }
    return names;
  }

  async #stamp(name: string): Promise<string> {
    const { ino, size, mtime } = await Deno.lstat(join(this.path, name));
    return `${ino} ${size} ${mtime?.getTime()}`;
  }

  async remove(): Promise<void> {
    await removed(this.path, { ...this.#options, waits: false }).catch(() => {}); // A file of another user may remain.
    this.#lock?.close();
  }
}

async function removed(
  path: string,
  { removeLarge, waits }: Pick<CommandFolderOptions, "removeLarge"> & { readonly waits: boolean },
): Promise<void> {
  if (!removeLarge) return await removeTree(path);
  try {
    await removeTree(path, { most: MOST_REMOVED });
  } catch (error) {
    if (!(error instanceof TooMuchToRemove)) throw error;
    const all = removeLarge(path).then(() => removeTree(path, { most: MOST_REMOVED }));
    if (waits) await all;
    else void all.catch(() => {});
  }
}

const INHERITED = ["LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/** Omits folders of PATH and variables that lead into the workspace, even through a link, because a command could have
 * changed the programs there. */
export function outsideWorkspace(
  workspace: string,
  { path, env }: { readonly path: string; readonly env: Readonly<Record<string, string>> },
  usual: string,
): Readonly<Record<string, string>> {
  const real = (named: string): string => realPathOf(named) ?? named;
  const isOutside = (named: string): boolean => !isWithin(named, workspace) && !isWithin(real(named), workspace);
  const folders = new Set(path.split(delimiter).filter(isOutside).map(real));
  const leadsIn = (text: string): boolean =>
    text.includes(workspace) || text.split(delimiter).some((part) => isAbsolute(part) && !isOutside(part));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([, text]) => !leadsIn(text))),
    PATH: folders.size > 0 ? [...folders].join(delimiter) : usual,
  };
}

/** Returns false if a program of the folder is a link into the workspace, even to a missing file. */
export function hasNoLinkInto(workspace: string, folder: string): boolean {
  const leadsIn = (path: string, left = 20): boolean => {
    const real = realPathOf(path);
    if (real !== null || left === 0) return isWithin(real ?? path, workspace);
    try {
      const target = resolve(dirname(path), Deno.readLinkSync(path)), inside = realPathOf(dirname(target));
      return isWithin(inside ?? target, workspace) || leadsIn(target, left - 1);
    } catch {
      return isWithin(path, workspace);
    }
  };
  try {
    return ![...Deno.readDirSync(folder)].some(({ name, isSymlink }) => isSymlink && leadsIn(join(folder, name)));
  } catch {
    return false; // Vis cannot check the programs of an unreadable folder.
  }
}

interface HomeParts {
  readonly links: Readonly<Record<string, string>>;
  readonly home: string | null;
  readonly root: string;
}

/** In this home, git knows the user's name and email if the user's settings have them. Git accepts `root` even if
 * another user owns the folder. */
export async function makeHome(folder: string, { links, home, root }: HomeParts): Promise<void> {
  const linked = Object.entries(links).map(async ([path, to]) => {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.symlink(to, join(folder, path));
  });
  const named = userGitSettings({ home, gitDir: join(root, ".git") }).then(async (settings) => {
    const lines = settings.flatMap(({ section, subsection, key, value }) =>
      section === "user" && subsection === null && ["name", "email"].includes(key)
        ? [`\t${key} = ${JSON.stringify(value)}\n`]
        : []
    );
    const parts = lines.length > 0 ? [`[user]\n${lines.join("")}`] : [];
    // The user has chosen the folder, and the wall confines programs that git starts for the folder.
    const isForeign = Deno.statSync(root).uid !== Deno.uid();
    if (isForeign) parts.push(`[safe]\n\tdirectory = ${JSON.stringify(root)}\n`);
    if (parts.length > 0) await Deno.writeTextFile(join(folder, ".gitconfig"), parts.join(""));
  });
  await Promise.all([...linked, named]);
}

export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { folder, language }: Readonly<Record<"folder" | "language", string>>,
): Readonly<Record<string, string>> {
  return {
    LANG: language,
    ...Object.fromEntries(INHERITED.flatMap((name) => env[name] ? [[name, env[name]]] : [])),
    TERM: "dumb",
    HOME: folder,
    TMPDIR: folder,
    GIT_OPTIONAL_LOCKS: "0", // Without this setting, `git status` could write the index.
  };
}
