import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { Cancelled, fileFault, UsageError } from "../../domain/errors.ts";
import { PathMap, type ReplayPlace, type ReplayRequest } from "../../domain/records/recording.ts";
import { realFolder } from "../settings/settings.ts";
import { makeCopyFolder } from "./_copy_folder.ts";
import { copyTree } from "./_copy_tree.ts";
import { listTree, type TreeEntry } from "./_list_tree.ts";
import { removeCopy } from "./_remove_tree.ts";

interface CopyLimits {
  readonly bytes: number;
  readonly entries: number;
}

export interface ReplayPlaceParts {
  /** Vis's own folder. */
  readonly home: string | null;
  /** Parent folder of the copy. */
  readonly temporary?: string;
  readonly limits?: CopyLimits;
}

const LIMITS: CopyLimits = { bytes: 2 ** 30, entries: 200_000 };
/** Space that must stay free. */
const FREE_BYTES = 64 * 2 ** 20;
/** Vis's own folders that no replay needs: code, and the data for undoing changes of workspaces. */
const UNUSED = ["extensions", "checkpoints", join("cache", "extensions")];

/** The workspace itself, or a copy of it and of the extensions' data in Vis's own folder. Rejects with `UsageError` if
 * it cannot be copied, and with `Cancelled`; then nothing is left behind. */
export async function replayPlace(request: ReplayRequest, parts: ReplayPlaceParts): Promise<ReplayPlace> {
  const { cwd, recorded, inPlace, signal } = request;
  const workspace = await realFolder(cwd ?? Deno.cwd());
  if (inPlace) {
    const paths = new PathMap([[recorded, workspace]]);
    return { workspace, home: parts.home, paths, copied: null, close: () => Promise.resolve() };
  }
  const { temporary = tmpdir() } = parts;
  // The path is as long as the recorded one if possible, so that sizes of texts stay the same.
  const root = await makeCopyFolder(temporary, { length: dirname(recorded).length }).catch((error: unknown) => {
    throw refusal(workspace, `${temporary} cannot be written: ${fileFault(error)}; TMPDIR names another folder`);
  });
  try {
    const made = await fill(root, { ...parts, workspace, recorded, signal });
    return { ...made, close: () => removeCopy(root) };
  } catch (error) {
    await removeCopy(root);
    if (signal.aborted) throw new Cancelled("Cancelled");
    throw error instanceof UsageError ? error : refusal(workspace, fileFault(error));
  }
}

async function fill(
  root: string,
  { workspace, recorded, home, limits = LIMITS, signal }: ReplayPlaceParts & {
    readonly workspace: string;
    readonly recorded: string;
    readonly signal: AbortSignal;
  },
): Promise<Omit<ReplayPlace, "close">> {
  const copy = join(root, basename(recorded) || "workspace"), ownCopy = join(root, ".vis of the replay");
  const size = { bytes: 0, files: 0, entries: 0 };
  const take = ({ info }: TreeEntry): boolean => {
    signal.throwIfAborted();
    size.entries++;
    if (info.isFile) size.files++;
    if (info.isFile) size.bytes += info.size;
    if (size.bytes > limits.bytes) throw refusal(workspace, `it has more than ${limits.bytes >> 20} MiB`);
    if (size.entries > limits.entries) {
      throw refusal(workspace, `it has more than ${limits.entries} files and folders`);
    }
    return true;
  };
  const { entries, leftOut } = await listTree(
    workspace,
    (entry) => join(workspace, entry.path) !== root && take(entry),
  );
  const realHome = home && await Deno.realPath(home).catch(() => null); // it may not exist yet
  const own = realHome ? await listTree(realHome, (entry) => isOfExtensions(entry) && take(entry)) : null;
  await checkRoom(dirname(root), { workspace, bytes: size.bytes });
  const unread = await copyTree(entries, { from: workspace, to: copy, signal });
  if (own && realHome) await copyTree(own.entries, { from: realHome, to: ownCopy, signal });
  const paths = new PathMap([[recorded, copy], ...(home === null ? [] : [[home, ownCopy] as const])]);
  const copied = { from: workspace, files: size.files, bytes: size.bytes, leftOut: leftOut + unread };
  return { workspace: copy, home: home && ownCopy, paths, copied };
}

/** Files at the top level are Vis's own: database, settings, keys. */
function isOfExtensions({ path, info }: TreeEntry): boolean {
  return (path.includes(sep) || info.isDirectory) && !UNUSED.includes(path);
}

async function checkRoom(
  parent: string,
  { workspace, bytes }: { readonly workspace: string; readonly bytes: number },
): Promise<void> {
  const { bavail, bsize } = await statfs(parent);
  if (bavail * bsize >= bytes + FREE_BYTES) return;
  const [free, needed] = [bavail * bsize, bytes + FREE_BYTES].map((size) => Math.ceil(size / 2 ** 20));
  throw refusal(workspace, `${parent} has ${free} MiB free, ${needed} are needed; TMPDIR names another folder`);
}

function refusal(workspace: string, why: string): UsageError {
  return new UsageError(
    `Cannot copy ${workspace} for the replay: ${why}; --cwd names a smaller copy of your own, --in-place lets the blocks change the workspace itself`,
  );
}
