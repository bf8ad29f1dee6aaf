import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { unrefTimer } from "../domain/kit/time.ts";
import { leftFolders, lockFolder } from "../sandbox/launch.ts";
import { removeTree, TooMuchToRemove } from "./folders.ts";

const PREFIX = "vis-command-";
/** Names that this process removes. */
const MOST_REMOVED = 20_000;
/** Folders of processes that were killed that one process removes. */
const MOST_SWEPT = 20;
/** After the first program began, which would compete with it. A process that ends sooner leaves it to others. */
const SWEEP_AFTER_MS = 1_000;

interface CommandFolderOptions {
  readonly root?: string | undefined;
  /** Removes the contents of a folder that takes long; otherwise this process does. */
  readonly removeLarge?: ((path: string) => Promise<void>) | undefined;
}

/** The temporary folder of one call of a program, at its real path. It is locked until it is removed. */
export class CommandFolder {
  static readonly #swept = new Set<string>();

  readonly path: string;
  readonly #lock: Deno.FsFile | null;
  readonly #options: CommandFolderOptions;

  /** Use `make`. */
  constructor(path: string, options: CommandFolderOptions) {
    this.path = path;
    this.#lock = lockFolder(path);
    this.#options = options;
  }

  /** The first one in `root` also removes folders of processes that were killed, later. */
  static async make(options: CommandFolderOptions = {}): Promise<CommandFolder> {
    const root = resolve(options.root ?? tmpdir());
    const path = await Deno.realPath(await Deno.makeTempDir({ dir: root, prefix: `${PREFIX}${Deno.pid}-` }));
    const folder = new CommandFolder(path, options);
    if (CommandFolder.#swept.has(root)) return folder;
    CommandFolder.#swept.add(root);
    const later = setTimeout(() => void CommandFolder.sweep({ ...options, root }), SWEEP_AFTER_MS);
    unrefTimer(later);
    return folder;
  }

  /** Removes folders of processes that were killed. What cannot be removed stays. */
  static async sweep({ root = tmpdir(), removeLarge }: CommandFolderOptions): Promise<void> {
    let count = 0;
    for await (const path of leftFolders(root, PREFIX)) {
      if (++count > MOST_SWEPT) return;
      await removed(path, { removeLarge, waits: true }).catch(() => {});
    }
  }

  /** Nothing waits for the removal of what takes long. */
  async remove(): Promise<void> {
    await removed(this.path, { ...this.#options, waits: false }).catch(() => {}); // somebody else's file is in it
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
