import type { WorkspacePath } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { openFile, readWhole } from "../read/read_place.ts";
import { sizeText } from "../tree/size_text.ts";
import type { FileSnapshot } from "../checkpoints/snapshot.ts";
import { sha256Of } from "../tree/text_bytes.ts";
import type { Facts } from "../tree/tree.ts";

/** Maximum size in bytes of a file that is overwritten or edited. */
export const MAX_WRITE = 16 * 1024 * 1024;

export interface CurrentFile extends FileSnapshot {
  readonly seen: Facts;
}

/** A file about to be changed; null if there is none. Throws Error if it differs from what this conversation last read. */
export async function currentFile(
  context: FsContext,
  place: WorkspacePath,
  { action = "write", most = MAX_WRITE }: { readonly action?: string; readonly most?: number } = {},
): Promise<CurrentFile | null> {
  if (place.info === null) return null;
  using file = await openFile(context, { place, action });
  const { size, mode, uid, gid, modified } = file.facts;
  const bytes = await readWhole(file, { size, most, signal: context.signal });
  if (bytes === null) {
    throw new RangeError(`Cannot ${action} ${place.path}: ${sizeText(size)} is over ${most / 1024 / 1024} MB`);
  }
  const current: CurrentFile = { kind: "file", bytes, mode, owner: { uid, gid }, seen: file.facts };
  const known = context.ledger.find(context.conversationId, `${context.root}/${place.real}`);
  if (known === null) return current;
  if (known.lossy && action === "write") {
    throw new Error(`Cannot write ${place.path}: it is not UTF-8, and what was read from it is not its bytes`);
  }
  const same = known.hash === null
    ? known.size === bytes.length && known.mtime === modified
    : await known.hash === await sha256Of(bytes);
  if (same) return current;
  throw new Error(
    `Cannot ${action} ${place.path}: it changed on disk since it was read; read it again and redo the change`,
  );
}
